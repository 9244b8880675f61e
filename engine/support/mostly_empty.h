// A string or vector that is nearly always empty, and then takes the space of a pointer: there are millions of nodes,
// and few have a name, a method or a table of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace dma {

template <class Container>
class MostlyEmpty {
 public:
  MostlyEmpty() = default;
  MostlyEmpty(Container content) {  // NOLINT: to be written as the container itself
    if (!content.empty()) content_ = std::make_unique<Container>(std::move(content));
  }
  MostlyEmpty(const MostlyEmpty& other)
      : content_(other.empty() ? nullptr : std::make_unique<Container>(*other.content_)) {}
  MostlyEmpty(MostlyEmpty&&) noexcept = default;
  MostlyEmpty& operator=(MostlyEmpty other) noexcept {
    content_ = std::move(other.content_);
    return *this;
  }

  const Container& get() const {
    static const Container kEmpty;
    return empty() ? kEmpty : *content_;
  }
  operator const Container&() const { return get(); }  // NOLINT: to be read as the container itself

  bool empty() const { return content_ == nullptr; }
  std::size_t size() const { return get().size(); }
  auto begin() const { return get().begin(); }
  auto end() const { return get().end(); }
  const auto& operator[](std::size_t i) const { return get()[i]; }

  template <class Other>
  friend bool operator==(const MostlyEmpty& a, const Other& b) {
    return a.get() == b;
  }

 private:
  std::unique_ptr<Container> content_;
};

}  // namespace dma
