// Structures as JSON: one list of the members of each serves for writing and for reading.
//
//   void list_fields(Fields& f, Scores& s) { f("rmse", s.rmse), f("log_likelihood", s.log_likelihood); }
//   Json json = written(scores);
//   const auto again = read_as<Scores>(json);
#pragma once

#include <Eigen/Dense>
#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/support/json.h"
#include "engine/support/text.h"

namespace dma {

// The bytes of the doubles; an Error for bytes that are none.
Json packed(const Eigen::VectorXd& numbers);
Eigen::VectorXd unpacked(const Json& json);

template <class T>
Json written(const T& value);
template <class T>
void read_into(const Json& json, T& value);
template <class T>
T read_as(const Json& json) {
  T value{};
  read_into(json, value);
  return value;
}

class Fields {
 public:
  static Fields to(Json& json) { return Fields(&json, nullptr); }
  static Fields from(const Json& json) { return Fields(nullptr, &json); }

  bool is_reading() const { return from_ != nullptr; }

  // Under its name; an optional one that is empty is left out.
  template <class T>
  void operator()(const char* name, T& value) {
    if (!from_)
      (*to_)[name] = written(value);
    else if constexpr (std::integral<T> && !std::same_as<T, bool>)
      value = whole<T>(*from_, std::string(name));
    else
      read_into(from_->at(name), value);
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    if (from_ ? from_->contains(name) : value.has_value()) (*this)(name, from_ ? value.emplace() : *value);
  }

  // A list, left out where it is empty.
  template <class T>
  void unless_empty(const char* name, T& list) {
    if (from_ ? from_->contains(name) : !list.empty()) (*this)(name, list);
  }

  void packed(const char* name, std::vector<double>& numbers);  // many
  void triangle(const char* name, Eigen::MatrixXd& lower);      // the lower one, column by column
  void text(const char* name, const std::string& said);         // for people: it is written alone

 private:
  Fields(Json* to, const Json* from) : to_(to), from_(from) {}
  Json* to_;
  const Json* from_;
};

// Members of `value` under their own names: list_fields(Fields& f, Scores& value) { DMA_LIST(rmse, log_likelihood); }
#define DMA_LIST_ONE(member) f(#member, value.member);
#define DMA_LIST(...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(DMA_LIST_ONE, __VA_ARGS__))

namespace detail {
template <class T>
concept EigenType = std::is_base_of_v<Eigen::DenseBase<T>, T>;
template <class T>
concept ListType = requires(T list) {
  list.emplace_back();
};
template <class T>
concept PlainType = std::is_arithmetic_v<T> || std::same_as<T, std::string> || std::same_as<T, std::vector<bool>> ||
    std::same_as<T, std::map<std::string, std::string>>;
}  // namespace detail

template <class T>
Json written(const T& value) {
  if constexpr (std::same_as<T, double>) {
    return json_number(value);
  } else if constexpr (detail::PlainType<T>) {
    return value;
  } else if constexpr (detail::EigenType<T>) {
    Json numbers = packed(value.reshaped());
    return T::IsVectorAtCompileTime ? numbers : Json{{"rows", value.rows()}, {"numbers", std::move(numbers)}};
  } else if constexpr (detail::ListType<T>) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(written(element));
    return array;
  } else {
    Json json = Json::object();
    Fields fields = Fields::to(json);
    list_fields(fields, const_cast<T&>(value));  // a writing list changes nothing
    return json;
  }
}

template <class T>
void read_into(const Json& json, T& value) {
  if constexpr (std::same_as<T, double>) {
    value = json_number(json);
  } else if constexpr (detail::PlainType<T>) {
    value = json.get<T>();
  } else if constexpr (detail::EigenType<T>) {
    if constexpr (T::IsVectorAtCompileTime) {
      const Eigen::VectorXd numbers = unpacked(json);
      value = Eigen::Map<const T>(numbers.data(), numbers.size());
    } else {
      const Eigen::VectorXd numbers = unpacked(json.at("numbers"));
      const auto rows = whole<Eigen::Index>(json, "rows"), columns = rows == 0 ? 0 : numbers.size() / rows;
      if (rows * columns != numbers.size()) fail("a matrix has an impossible number of rows");
      value = Eigen::Map<const T>(numbers.data(), rows, columns);
    }
  } else if constexpr (detail::ListType<T>) {
    value.clear();
    for (std::size_t i = 0; i < json.get_ref<const Json::array_t&>().size(); ++i) {
      using Element = typename T::value_type;
      if constexpr (std::integral<Element>)
        value.push_back(whole<Element>(json, i));
      else
        read_into(json[i], value.emplace_back());
    }
  } else {
    Fields fields = Fields::from(json);
    list_fields(fields, value);
  }
}

}  // namespace dma
