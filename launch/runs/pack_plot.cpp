// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "base/short_number.h"
#include "launch/runs/pack_output.h"
#include "topology/draw/svg_box.h"

namespace starling {
namespace {

constexpr const char* kColours[] = {"#4c8fd6", "#e08a3c", "#55a868", "#c4606b",
                                    "#8f7cc9", "#a58568", "#7f8c8d"};
constexpr double kWidth = 420, kHeight = 260, kLeft = 62, kTop = 96, kGap = 78;
constexpr std::size_t kPoints = 400;

struct Panel {
  const char* title;
  /// y of an event.
  std::function<double(const PackEvent&)> value;
};

/// 1, 2 or 5 times a power of ten, so that at most six of them reach `top`.
double tick(double top) {
  const double unit = std::pow(10, std::floor(std::log10(top / 6)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * unit * 6 >= top) return times * unit;
  }
  return 10 * unit;
}

class Picture {
 public:
  Picture(const PackInput& input, std::span<const PackRun> runs) : input_(input), runs_(runs) {
    for (const PackRun& run : runs) x_top_ = std::max(x_top_, arrived(run.events.back()));
  }

  std::string draw(std::span<const Panel> panels) {
    const double width = kLeft + static_cast<double>(panels.size()) * (kWidth + kGap);
    const double height = kTop + kHeight + 62;
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
                      short_number(width) + ' ' + short_number(height) + "\" width=\"" +
                      short_number(width) + "\" height=\"" + short_number(height) +
                      "\" role=\"img\">\n<style>\n"
                      ":root{--back:#fff;--ink:#24292f;--line:#d5dae0}\n"
                      "@media (prefers-color-scheme:dark){:root{--back:#15181c;--ink:#e3e7ec;"
                      "--line:#3a434e}}\n"
                      "text{font:12px system-ui,sans-serif;fill:var(--ink)}"
                      ".title{font-size:16px;font-weight:600}.back{fill:var(--back)}"
                      "line,.link{stroke:var(--line)}"
                      "polyline{fill:none;stroke-width:1.6}\n</style>\n" +
                      svg_rect(0, 0, width, height, "back") +
                      svg_text(kLeft, 28, "title", input_.pods_name + " on " + input_.nodes_name) +
                      legend();
    for (std::size_t i = 0; i < panels.size(); ++i)
      svg += panel(panels[i], kLeft + static_cast<double>(i) * (kWidth + kGap));
    return svg + "</svg>\n";
  }

 private:
  [[nodiscard]] double arrived(const PackEvent& e) const {
    return 100 * static_cast<double>(e.arrived_gpu_milli) /
           static_cast<double>(input_.cluster.gpu_milli());
  }

  [[nodiscard]] std::string legend() const {
    std::string svg;
    double x = kLeft;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      svg += "<rect x=\"" + short_number(x) + "\" y=\"42\" width=\"12\" height=\"12\" fill=\"" +
             kColours[i % std::size(kColours)] + "\"/>\n" +
             svg_text(x + 17, 52, "", runs_[i].policy);
      x += 36 + 1.15 * svg_text_width(runs_[i].policy);
    }
    return svg;
  }

  [[nodiscard]] std::string axes(double left, double y_top, double y_step) const {
    std::string svg;
    for (double y = 0; y <= y_top * 1.0001; y += y_step) {
      const double at = kTop + kHeight * (1 - y / y_top);
      svg +=
          svg_line(left, at, left + kWidth, at) + svg_text(left - 40, at + 4, "", short_number(y));
    }
    const double x_step = tick(x_top_);
    for (double x = 0; x <= x_top_ * 1.0001; x += x_step) {
      svg += svg_text(left + kWidth * x / x_top_ - 8, kTop + kHeight + 18, "", short_number(x));
    }
    return svg + svg_text(left, kTop + kHeight + 40, "",
                          "GPUs asked for so far, % of all in the cluster");
  }

  [[nodiscard]] std::string panel(const Panel& what, double left) const {
    double top = 0;
    for (const PackRun& run : runs_) {
      for (const PackEvent& e : run.events) top = std::max(top, what.value(e));
    }
    top = std::max(top, 1e-3);
    const double step = tick(top);
    top = std::ceil(top / step - 1e-9) * step;
    std::string svg = svg_text(left, kTop - 14, "", what.title) + axes(left, top, step);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const auto& events = runs_[i].events;
      const std::size_t every = events.size() / kPoints + 1;
      svg +=
          "<polyline stroke=\"" + std::string(kColours[i % std::size(kColours)]) + "\" points=\"";
      for (std::size_t k = 0; k < events.size(); k += every)
        svg += point(events[k], what, left, top);
      svg += point(events.back(), what, left, top) + "\"/>\n";
    }
    return svg;
  }

  [[nodiscard]] std::string point(const PackEvent& e, const Panel& what, double left,
                                  double top) const {
    const auto pixels = [](double x) { return short_number(std::round(x * 10) / 10); };
    return pixels(left + kWidth * arrived(e) / x_top_) + ',' +
           pixels(kTop + kHeight * (1 - what.value(e) / top)) + ' ';
  }

  const PackInput& input_;
  std::span<const PackRun> runs_;
  double x_top_ = 1e-3;
};

}  // namespace

std::string pack_svg(const PackInput& input, std::span<const PackRun> runs) {
  const auto capacity = static_cast<double>(input.cluster.gpu_milli());
  const auto unallocated = [=](const PackEvent& e) {
    return capacity - static_cast<double>(e.allocated_gpu_milli);
  };
  const std::array<Panel, 3> panels = {
      Panel{"Not allocated, % of all GPUs",
            [&](const PackEvent& e) { return 100 * unallocated(e) / capacity; }},
      Panel{"Fragmented, GPUs",
            [&](const PackEvent& e) { return input.measure.gpus(e.fragments); }},
      Panel{"Fragmented, % of what is not allocated", [&](const PackEvent& e) {
              const double left = unallocated(e) / kWholeGpu;
              return left > 0 ? 100 * input.measure.gpus(e.fragments) / left : 0;
            }}};
  return Picture(input, runs).draw(panels);
}

}  // namespace starling
