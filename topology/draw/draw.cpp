// SPDX-License-Identifier: Apache-2.0
#include "topology/draw/draw.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/counted.h"
#include "base/short_number.h"
#include "topology/cuts.h"
#include "topology/draw/svg_box.h"

namespace starling {
namespace {

constexpr const char* kColours[] = {"#4c8fd6", "#e08a3c", "#55a868", "#c4606b",
                                    "#8f7cc9", "#a58568", "#d27fb5", "#7f8c8d"};
constexpr const char* kStyle =
    "<style>\n"
    ":root{--back:#fff;--ink:#24292f;--soft:#6b7480;--line:#9aa4af;--box:#f6f8fa;--rack:#fff;"
    "--switch:#dde4ec}\n"
    "@media (prefers-color-scheme:dark){:root{--back:#15181c;--ink:#e3e7ec;--soft:#9aa4af;"
    "--line:#5c6670;--box:#1d2126;--rack:#252a31;--switch:#3a434e}}\n"
    "text{font:11px system-ui,sans-serif;fill:var(--ink)}\n"
    ".title{font-size:18px;font-weight:600}.head{font-weight:600}.small{font-size:10px;"
    "fill:var(--soft)}\n"
    ".back{fill:var(--back)}.pod{fill:var(--box);stroke:var(--line);rx:8px}"
    ".rack{fill:var(--rack);stroke:var(--line);rx:5px}"
    ".switch{fill:var(--switch);stroke:var(--line);rx:3px}"
    ".island{fill:none;stroke:var(--line);rx:3px}.link{stroke:var(--line);stroke-width:1.2}\n"
    ".gpu{rx:2px}\n";

std::string times(std::size_t n, double gbps) {
  return std::to_string(n) + " x " + short_number(gbps) + " Gbit/s";
}

// What is alike below one parent, by the first of them.
struct Kind {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
};

class Picture {
 public:
  Picture(const Topology& topology, const DrawOptions& options)
      : topology_(topology), options_(options) {
    const auto trees = topology.subtrees();
    for (std::uint32_t i = 1; i < trees.size(); ++i) children(trees[i].parent).push_back(i);
    racks_ = count_of(Level::rack);
    settle_network();
  }

  std::string draw() {
    const SvgBox body = whole();
    const SvgBox key = legend();
    constexpr double margin = 20;
    constexpr double head = 58;
    const double width = std::max({body.width, key.width, 420.0}) + 2 * margin;
    const double height = head + body.height + 24 + key.height + margin;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + short_number(width) +
                      "\" height=\"" + short_number(height) + "\" viewBox=\"0 0 " +
                      short_number(width) + " " + short_number(height) + "\" role=\"img\">\n";
    out += kStyle;
    for (std::size_t i = 0; i < std::size(kColours); ++i) {
      out += ".c" + std::to_string(i) + "{fill:" + kColours[i] + "}";
    }
    out += "\n</style>\n" + svg_rect(0, 0, width, height, "back");
    out += svg_text(margin, 28, "title", topology_.name());
    out += svg_text(margin, 46, "small",
                    counted(topology_.gpu_count(), "GPU") + " in " +
                        counted(topology_.server_count(), "server") + ", " +
                        counted(count_of(Level::rack), "rack") + ", " +
                        counted(count_of(Level::pod), "pod"));
    out += svg_at(body, margin, head) + svg_at(key, margin, head + body.height + 24);
    return out + "</svg>\n";
  }

 private:
  std::size_t count_of(Level level) const {
    const auto trees = topology_.subtrees();
    return static_cast<std::size_t>(std::count_if(
        trees.begin(), trees.end(), [level](const Subtree& t) { return t.level == level; }));
  }

  std::vector<std::uint32_t>& children(std::uint32_t tree) {
    children_.resize(topology_.subtrees().size());
    return children_[tree];
  }

  // The smallest subtree that holds all servers below a switch is its home.
  void settle_network() {
    const auto trees = topology_.subtrees();
    const std::vector<NodeSpan> spans = spans_of(topology_);
    std::vector<std::uint32_t> home(spans.size());
    switches_.resize(trees.size());
    up_.resize(trees.size());
    children_.resize(trees.size());
    const std::size_t pods = count_of(Level::pod);
    for (std::uint32_t i = 0; i < spans.size(); ++i) {
      const bool reached = spans[i].layer != NodeSpan::kUnreached && spans[i].servers.size() > 0;
      if (reached) {
        const ServerId first(spans[i].servers.first);
        const auto holds = [&](std::uint32_t tree) {
          return spans[i].servers.last <= trees[tree].servers.last;
        };
        // A lone rack holds the servers below every switch: then how far it is from them decides.
        const bool rack = holds(topology_.rack_of(first)) && (racks_ > 1 || spans[i].layer <= 1);
        const bool pod = holds(topology_.pod_of(first)) && (pods > 1 || spans[i].layer <= 2);
        home[i] = rack ? topology_.rack_of(first) : pod ? topology_.pod_of(first) : 0;
      }
      if (!topology_.network_nodes()[i].is_server) switches_[home[i]].push_back(i);
    }
    const auto leave = [&](std::uint32_t from, std::uint32_t to, double gbps) {
      for (std::uint32_t tree = home[from]; tree != 0; tree = trees[tree].parent) {
        const IndexRange& range = trees[tree].servers;
        const bool inside = home[to] != 0 && trees[home[to]].servers.first >= range.first &&
                            trees[home[to]].servers.last <= range.last &&
                            trees[home[to]].level >= trees[tree].level;
        if (inside) return;
        ++up_[tree][gbps];
      }
    };
    for (const NetworkLink& link : topology_.network_links()) {
      leave(link.a, link.b, link.gbps);
      leave(link.b, link.a, link.gbps);
    }
  }

  std::string up_label(std::uint32_t tree) const {
    if (up_[tree].empty()) return "";
    if (up_[tree].size() == 1) return times(up_[tree].begin()->second, up_[tree].begin()->first);
    std::size_t links = 0;
    double sum = 0;
    for (const auto& [gbps, n] : up_[tree]) {
      links += n;
      sum += gbps * static_cast<double>(n);
    }
    return counted(links, "link") + ", " + short_number(sum) + " Gbit/s";
  }

  // What makes servers, racks and pods alike.
  std::string server_signature(std::uint32_t s) const {
    const Server& server = topology_.servers()[s];
    std::string out = std::to_string(server.gpus.size()) + "/" +
                      std::to_string(server.gpus.size() == 0 ? 0 : server.gpu_type.value) + "/" +
                      short_number(server.nic_gbps);
    for (std::uint32_t g = server.gpus.first; g < server.gpus.last; ++g) {
      const bool new_island = g > server.gpus.first &&
                              topology_.island_of(GpuId(g)) != topology_.island_of(GpuId(g - 1));
      out += new_island ? "|" : ".";
    }
    return out;
  }

  // What a rack or pod in one scale-up domain has of it.
  std::string scale_up(const Subtree& tree) const {
    if (tree.servers.size() == 0) return "";
    const std::uint32_t domain = topology_.domain_of(ServerId(tree.servers.first));
    if (domain == Topology::kNoDomain) return "";
    const ScaleUpDomain& it = topology_.domains()[domain];
    if (it.servers.last < tree.servers.last) return "";
    return std::string(it.servers == tree.servers ? ", one" : ", part of a") + " domain at " +
           short_number(it.gbps) + " Gbit/s a GPU";
  }

  std::string tree_signature(std::uint32_t tree) {
    const Subtree& t = topology_.subtrees()[tree];
    std::string out = std::to_string(switches_[tree].size()) + up_label(tree) + "(";
    std::string last;
    std::size_t run = 0;
    const auto add = [&](const std::string& next) {
      if (next == last && run > 0) {
        ++run;
        return;
      }
      if (run > 0) out += last + "*" + std::to_string(run) + ",";
      last = next;
      run = 1;
    };
    if (t.level == Level::rack) {
      for (std::uint32_t s = t.servers.first; s < t.servers.last; ++s) add(server_signature(s));
    } else {
      for (const std::uint32_t child : children(tree)) add(tree_signature(child));
    }
    add("");
    return out + scale_up(t) + ")";
  }

  template <class Signature>
  static std::vector<Kind> kinds_of(const std::vector<std::uint32_t>& all, bool join,
                                    Signature signature) {
    std::vector<Kind> kinds;
    std::map<std::string, std::size_t> known;
    for (const std::uint32_t each : all) {
      if (join) {
        const auto [at, fresh] = known.emplace(signature(each), kinds.size());
        if (!fresh) {
          ++kinds[at->second].count;
          continue;
        }
      }
      kinds.push_back({each, 1});
    }
    return kinds;
  }

  SvgBox note(const std::string& text) const {
    return {svg_text_width(text) + 8, 18, svg_text(2, 13, "small", text), ""};
  }

  SvgBox switch_row(std::uint32_t tree) const {
    const std::vector<std::uint32_t>& all = switches_[tree];
    SvgBox row;
    if (all.empty()) return row;
    constexpr std::size_t named_max = 4;
    for (std::size_t i = 0; i < std::min(all.size(), named_max); ++i) {
      const std::string name = svg_short(topology_.network_nodes()[all[i]].name, 18);
      const double width = svg_text_width(name) + 10;
      row.svg += svg_rect(row.width, 0, width, 18, "switch");
      row.svg += svg_text(row.width + 5, 13, "plain", name);
      row.width += width + 6;
    }
    if (all.size() > named_max) {
      const std::string more = "+ " + std::to_string(all.size() - named_max) + " more, " +
                               counted(all.size(), "switch", "switches");
      row.svg += svg_text(row.width + 2, 13, "small", more);
      row.width += svg_text_width(more) + 4;
    }
    row.height = 18;
    return row;
  }

  SvgBox server_row(const Kind& kind) const {
    constexpr double name_width = 112;
    constexpr double cell = 11;
    constexpr std::uint32_t gpus_max = 16;
    const Server& server = topology_.servers()[kind.first];
    SvgBox row{name_width, 19, "", ""};
    const std::string name = svg_short(server.name, kind.count > 1 ? 12 : 17) +
                             (kind.count > 1 ? "  x " + std::to_string(kind.count) : "");
    row.svg = svg_text(0, 13, "plain", name);
    const std::uint32_t shown = std::min(server.gpus.size(), gpus_max);
    const std::string style = "gpu c" + std::to_string(server.gpu_type.value % std::size(kColours));
    for (std::uint32_t g = 0; g < shown;) {
      const std::uint32_t island = topology_.island_of(GpuId(server.gpus.first + g));
      const double begin = row.width;
      row.width += 3;
      for (; g < shown && topology_.island_of(GpuId(server.gpus.first + g)) == island; ++g) {
        row.svg += svg_rect(row.width, 5, 9, 9, style.c_str());
        row.width += cell;
      }
      row.width += 1;
      row.svg += svg_rect(begin, 2, row.width - begin, 15, "island");
      row.width += 3;
    }
    std::string more = shown < server.gpus.size()
                           ? "+ " + std::to_string(server.gpus.size() - shown)
                       : server.gpus.size() == 0 ? "no GPUs"
                                                 : "";
    row.svg += svg_text(row.width + 2, 13, "small", more);
    if (!more.empty()) row.width += svg_text_width(more) + 6;
    return row;
  }

  // Title, switches, content; as a stack where it stands for several.
  SvgBox framed(std::uint32_t tree, const Kind& kind, const SvgBox& content, const char* style,
                const std::string& what) {
    const Subtree& t = topology_.subtrees()[tree];
    const SvgBox row = switch_row(tree);
    std::string title = svg_short(t.name, 24);
    if (kind.count > 1) title += "  and " + std::to_string(kind.count - 1) + " alike";
    const std::string sub =
        what + ", " + counted(t.gpus.size(), "GPU") + (kind.count > 1 ? " each" : "") + scale_up(t);
    constexpr double pad = 10;
    SvgBox box;
    box.width = 2 * pad + std::max({content.width, row.width, svg_text_width(title) * 1.05,
                                    svg_text_width(sub)});
    const double top = 38 + row.height + (t.level == Level::rack ? 4 : 0);
    box.height = top + content.height + pad;
    for (int shadow = kind.count > 1 ? 2 : 0; shadow >= 0; --shadow) {
      box.svg += svg_rect(4 * shadow, 4 * shadow, box.width, box.height, style);
    }
    box.svg += svg_text(pad, 17, "head", title) + svg_text(pad, 31, "small", sub);
    if (row.height > 0) box.svg += svg_at(row, pad, 38);
    box.svg += svg_at(content, pad, top);
    if (kind.count > 1) {
      box.width += 8;
      box.height += 8;
    }
    box.up = up_label(tree);
    return box;
  }

  SvgBox rack_box(const Kind& kind) {
    const Subtree& rack = topology_.subtrees()[kind.first];
    std::vector<std::uint32_t> servers;
    for (std::uint32_t s = rack.servers.first; s < rack.servers.last; ++s) servers.push_back(s);
    const auto kinds = kinds_of(servers, servers.size() > options_.each_max,
                                [this](std::uint32_t s) { return server_signature(s); });
    SvgBox content;
    std::size_t left = servers.size();
    double nic = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const bool last_place = i + 1 >= std::max(options_.kinds_max, options_.each_max);
      const SvgBox row = last_place && i + 1 < kinds.size()
                             ? note("+ " + counted(left, "more server"))
                             : server_row(kinds[i]);
      content.svg += svg_at(row, 0, content.height);
      content.width = std::max(content.width, row.width);
      content.height += row.height;
      nic = std::max(nic, topology_.servers()[kinds[i].first].nic_gbps);
      left -= kinds[i].count;
      if (last_place) break;
    }
    return framed(kind.first, kind, content, "rack",
                  counted(servers.size(), "server") + " at " + short_number(nic) + " Gbit/s");
  }

  template <class Draw>
  std::vector<SvgBox> boxes_of(const std::vector<std::uint32_t>& trees, const char* what,
                               Draw draw) {
    const auto kinds =
        kinds_of(trees, trees.size() > options_.each_max || racks_ > 2 * options_.each_max,
                 [this](std::uint32_t tree) { return tree_signature(tree); });
    const std::size_t shown = kinds.size() > options_.each_max ? options_.kinds_max : kinds.size();
    std::vector<SvgBox> boxes;
    std::size_t left = trees.size();
    for (std::size_t i = 0; i < shown; ++i) {
      boxes.push_back(draw(kinds[i]));
      left -= kinds[i].count;
    }
    if (left > 0) boxes.push_back(note("+ " + counted(left, what)));
    return boxes;
  }

  SvgBox pod_box(const Kind& kind, double width) {
    const std::vector<std::uint32_t> racks = children(kind.first);
    const auto boxes =
        boxes_of(racks, "more rack", [this](const Kind& rack) { return rack_box(rack); });
    return framed(kind.first, kind, svg_flow(boxes, width - 20), "pod",
                  counted(racks.size(), "rack"));
  }

  SvgBox whole() {
    const std::vector<std::uint32_t> pods = children(0);
    // Two pods side by side are easier to compare than one above the other.
    const double each = pods.size() == 1 ? options_.width : options_.width / 2 - 30;
    const auto boxes =
        boxes_of(pods, "more pod", [&](const Kind& kind) { return pod_box(kind, each); });
    const SvgBox row = switch_row(0);
    const SvgBox below = svg_flow(boxes, options_.width);
    SvgBox all{std::max(row.width, below.width), row.height + below.height, "", ""};
    all.svg = row.svg + svg_at(below, 0, row.height);
    return all;
  }

  SvgBox legend() const {
    SvgBox key{0, 0, "", ""};
    std::vector<std::size_t> gpus(topology_.gpu_types().size());
    for (const Server& server : topology_.servers()) {
      if (server.gpus.size() > 0) gpus[server.gpu_type.value] += server.gpus.size();
    }
    std::vector<SvgBox> entries;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const GpuType& type = topology_.gpu_types()[i];
      const std::string text = std::to_string(gpus[i]) + " x " + svg_short(type.name, 24) + ", " +
                               short_number(type.memory_gib) + " GiB";
      const std::string style = "gpu c" + std::to_string(i % std::size(kColours));
      entries.push_back({svg_text_width(text) + 18, 18,
                         svg_rect(0, 4, 9, 9, style.c_str()) + svg_text(15, 13, "plain", text),
                         ""});
    }
    const std::string island = "island: GPUs on NVLink or one PCIe switch";
    entries.push_back({svg_text_width(island) + 30, 18,
                       svg_rect(0, 1, 20, 15, "island") + svg_text(26, 13, "plain", island), ""});
    const std::string link = "line: links upwards, number x speed of each";
    entries.push_back({svg_text_width(link) + 30, 18,
                       svg_line(0, 9, 20, 9) + svg_text(26, 13, "plain", link), ""});
    return svg_flow(entries, options_.width);
  }

  const Topology& topology_;
  const DrawOptions& options_;
  std::size_t racks_ = 0;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::vector<std::uint32_t>> switches_;  // by subtree: network nodes
  std::vector<std::map<double, std::size_t>> up_;     // by subtree: links that leave it, by speed
};

}  // namespace

std::string draw_svg(const Topology& topology, const DrawOptions& options) {
  return Picture(topology, options).draw();
}

}  // namespace starling
