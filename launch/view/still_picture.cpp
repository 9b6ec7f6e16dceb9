// SPDX-License-Identifier: Apache-2.0
#include "launch/view/still_picture.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <set>

#include "launch/system/text.h"
#include "launch/view/floor_plan.h"

namespace starling {
namespace {

constexpr double kAspect = 1.9, kMargin = 14, kHead = 40;
// Of the page, in light colours.
constexpr const char* kAgentColours[] = {"#2563c9", "#d9622b", "#2e8b57", "#8b5cf6", "#b8860b",
                                         "#0e9aa7", "#c2407a", "#6b7a2f", "#7a5240", "#5f6b7a"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

__attribute__((format(printf, 1, 2))) std::string printed(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string box(const PlanBox& b, const char* fill, const char* more = "") {
  return printed("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s/>\n",
                 b.x, b.y, b.w, b.h, fill, more);
}

std::string words(double x, double y, double size, const char* fill, const std::string& text,
                  const char* anchor = "start") {
  return printed("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" fill=\"%s\" text-anchor=\"%s\">",
                 x, y, size, fill, anchor) +
         escaped(text) + "</text>\n";
}

/// Which agent, or executor, has a server; the number of ranges where none has.
std::size_t holder_of(const std::vector<IndexRange>& ranges, std::uint32_t server) {
  std::size_t i = 0;
  while (i < ranges.size() && !ranges[i].contains(server)) ++i;
  return i;
}

std::string gpu_of(const PlanBox& b, const std::vector<std::uint32_t>& jobs, bool sick,
                   const Recording& recording) {
  std::string out;
  if (jobs.empty()) out += box(b, "#eef2f8", " rx=\"1.5\"");
  const double part = jobs.empty() ? 0 : b.h / static_cast<double>(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const PlanBox one{b.x, b.y + part * static_cast<double>(i), b.w, part};
    out += printed(
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1.5\" "
               "fill=\"%s\"><title>",
               one.x, one.y, one.w, one.h, colour_of_job(jobs[i]).c_str()) +
           escaped(recording.jobs[jobs[i]].name) + "</title></rect>\n";
  }
  if (sick)
    out += printed(
        "<path d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f\" stroke=\"#b3261e\" "
        "stroke-width=\"1.6\"/>\n",
        b.x, b.y, b.x + b.w, b.y + b.h, b.x, b.y + b.h, b.x + b.w, b.y);
  return out;
}

std::string data_centre(const Recording& recording, const Moment& moment, const FloorPlan& plan) {
  const Topology& topology = recording.topology;
  std::string out;
  for (std::size_t r = 0; r < plan.racks.size(); ++r) {
    const PlanBox& rack = plan.rack_boxes[r];
    out += box(rack, "#ffffff", " stroke=\"#dfe3e9\" rx=\"3\"");
    out += words(rack.x + 5, rack.y + 9, 7.5, "#5b6472", topology.subtrees()[plan.racks[r]].name);
  }
  const std::set<GpuId> sick(moment.sick.begin(), moment.sick.end());
  for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
    const PlanBox& b = plan.servers[s];
    if (b.w == 0) continue;
    const std::size_t agent = holder_of(recording.agents, s);
    const auto executor = static_cast<std::uint32_t>(holder_of(recording.executors, s));
    const bool away =
        std::count(moment.executors_down.begin(), moment.executors_down.end(), executor) > 0;
    const bool mute = std::count(moment.agents_down.begin(), moment.agents_down.end(),
                                 static_cast<std::uint32_t>(agent)) > 0;
    out += box(b, "#f6f7f9",
               away ? " stroke=\"#b3261e\" stroke-dasharray=\"2 1.5\" rx=\"2\"" : " rx=\"2\"");
    if (agent < recording.agents.size() && !mute)
      out += box({b.x, b.y, 2.5, b.h}, kAgentColours[agent % 10], " rx=\"1\"");
    const IndexRange gpus = topology.servers()[s].gpus;
    for (std::uint32_t gpu = gpus.first; gpu < gpus.last; ++gpu)
      out += gpu_of(plan.gpus[gpu], moment.on_gpu[gpu], sick.contains(GpuId{gpu}), recording);
  }
  return out;
}

/// Rows of bars; what is beyond `rows` is told as a number.
std::string queue(const Recording& recording, const Moment& moment, double width, double top,
                  double& bottom) {
  constexpr double kBar = 9, kEach = 4;
  constexpr int kRows = 5;
  std::string out;
  double x = 0, y = top;
  std::size_t drawn = 0;
  for (const std::uint32_t job : moment.waiting) {
    const double w = std::min(width, kEach * std::max(1U, recording.jobs[job].gpus));
    if (x + w > width) x = 0, y += kBar + 3;
    if (y >= top + kRows * (kBar + 3)) break;
    out += printed(
               "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1.5\" "
               "fill=\"%s\"><title>",
               x, y, w, kBar, colour_of_job(job).c_str()) +
           escaped(recording.jobs[job].name) + "</title></rect>\n";
    x += w + 2;
    ++drawn;
  }
  bottom = (moment.waiting.empty() ? top : y + kBar) + 4;
  if (drawn < moment.waiting.size()) {
    out += words(0, bottom + 8, 8, "#5b6472",
                 "and " + with_commas(moment.waiting.size() - drawn) + " more");
    bottom += 12;
  }
  return out;
}

}  // namespace

std::string still_picture(const Recording& recording, const Moment& moment) {
  const FloorPlan plan = floor_plan(recording.topology, kAspect);
  const double width = std::max(plan.width, 320.0);
  const std::uint32_t gpus = recording.topology.gpu_count();
  std::string body = words(
      0, 12, 13, "#171a21",
      recording.policy + " on " + recording.topology.name() + ", " +
          (moment.at_s > 0 ? human_seconds(moment.at_s) + " after the start" : "at the start"));
  body += words(0, 27, 9.5, "#5b6472",
                with_commas(moment.busy_gpus) + " of " + with_commas(gpus) + " GPUs busy, " +
                    with_commas(moment.running.size()) + " jobs running, " +
                    with_commas(moment.waiting.size()) + " waiting" +
                    (moment.agents_down.empty()
                         ? ""
                         : ", " + with_commas(moment.agents_down.size()) + " agents down") +
                    (moment.executors_down.empty()
                         ? ""
                         : ", " + with_commas(moment.executors_down.size()) + " executors down"));
  body += printed("<g transform=\"translate(0 %.1f)\">\n", kHead) +
          data_centre(recording, moment, plan) + "</g>\n";
  double bottom = kHead + plan.height + 16;
  body += words(
      0, bottom, 9.5, "#5b6472",
      moment.waiting.empty() ? "No job waits" : "Waiting, as wide as the GPUs that they ask for");
  body += queue(recording, moment, width, bottom + 6, bottom);
  return printed(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%.1f %.1f %.1f %.1f\" "
             "width=\"%.0f\" "
             "font-family=\"system-ui, sans-serif\">\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
             "height=\"%.1f\" fill=\"#ffffff\"/>\n",
             -kMargin, -kMargin, width + 2 * kMargin, bottom + 2 * kMargin,
             1.5 * (width + 2 * kMargin), -kMargin, -kMargin, width + 2 * kMargin,
             bottom + 2 * kMargin) +
         body + "</svg>\n";
}

}  // namespace starling
