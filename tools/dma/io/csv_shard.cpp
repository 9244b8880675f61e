// The part of CsvReader that reads one of several shards of a plain file.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tools/dma/io/csv.h"

namespace dma {

namespace {

constexpr std::size_t kShardBuffer = 1 << 22;

}  // namespace

std::optional<Eigen::MatrixXd> CsvReader::read_shard(std::span<const std::size_t> columns, std::size_t shard,
                                                     std::size_t shards) {
  const std::size_t body = passed_ + begin_;  // behind the header
  if (!file_ || size_ < body) return {};
  const auto cut = [&](std::size_t k) {
    return body + (size_ - body) / shards * k + (size_ - body) % shards * k / shards;
  };
  const std::size_t first = cut(shard), last = cut(shard + 1);  // lines that begin in [first, last) are of this shard
  std::size_t at = std::max(body, first == body ? body : first - 1);
  if (std::fseek(file_.get(), static_cast<long>(at), SEEK_SET) != 0) return {};
  const PlainReader plain(cells_.separator(), names_.size(), columns);
  NumberRows rows(columns.size());
  std::vector<char> text;
  bool skips = first != body;  // to the end of the line that another shard has
  for (bool is_end = false; !is_end;) {
    // What is in `text` are whole bytes of lines that were not yet read, and `at` is where the file goes on.
    const std::size_t kept = text.size();
    text.resize(kept + kShardBuffer);
    const std::size_t got = std::fread(text.data() + kept, 1, kShardBuffer, file_.get());
    text.resize(kept + got);
    if (got == 0 && std::ferror(file_.get())) return {};
    at += got;
    if (watch_)
      watch_(std::clamp(static_cast<double>(at - first) / static_cast<double>(std::max<std::size_t>(1, last - first)),
                        0.0, 1.0));
    const std::size_t begins_at = at - text.size();  // in the file, of `text`
    is_end = got == 0;
    if (is_end && !text.empty() && text.back() != '\n') text.push_back('\n');
    std::string_view all(text.data(), text.size());
    std::size_t begin = 0;
    if (skips) {
      const auto newline = all.find('\n');
      if (newline == all.npos) continue;
      begin = newline + 1;
      skips = false;
    }
    // Up to the line that begins at or behind the end of the shard.
    std::size_t end = all.rfind('\n') == all.npos ? begin : std::max(begin, all.rfind('\n') + 1);
    if (begins_at + begin >= last) {
      end = begin, is_end = true;
    } else if (begins_at + end >= last) {
      const auto newline = all.find('\n', last - 1 - begins_at);
      if (newline != all.npos) end = newline + 1, is_end = true;
    }
    const std::string_view lines = all.substr(begin, end - begin);
    std::size_t bytes = 0;
    for (PlainRows& piece : plain.read_in_pieces(lines)) {
      bytes += piece.bytes;
      rows.add_rows(std::move(piece.values));
    }
    if (bytes < lines.size()) return {};
    text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return rows.take();
}

}  // namespace dma
