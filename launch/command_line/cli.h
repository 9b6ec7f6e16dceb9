// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/command_line/completion.h"
#include "launch/command_line/manual.h"

namespace CLI {
class App;
}

namespace starling {

/// One command of the program, and the commands below it. A thin face over CLI11, so that one
/// source file pays for it and every mistake on the command line reads alike: one message that says
/// what is wrong and what would be right. Targets must outlive parse(). Flags are written "--name"
/// or "-n,--name".
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  /// A command below this one. The returned object is a handle; copies mean the same command.
  Command sub(const std::string& name, const std::string& help) const;

  // `value` names what stands after the option in the help: FILE, N, NAME. An empty text is wrong,
  // but where the target is optional.
  void option(const std::string& flags, std::string& target, const std::string& value,
              const std::string& help) const;
  void option(const std::string& flags, std::optional<std::string>& target,
              const std::string& value, const std::string& help) const;
  /// A whole number in [least, most].
  void option(const std::string& flags, std::uint64_t& target, const std::string& value,
              const std::string& help, std::uint64_t least, std::uint64_t most) const;
  void option(const std::string& flags, std::uint32_t& target, const std::string& value,
              const std::string& help, std::uint32_t least, std::uint32_t most) const;
  /// A number above `above` (or equal, if `inclusive`).
  void option(const std::string& flags, double& target, const std::string& value,
              const std::string& help, double above, bool inclusive = false) const;
  void flag(const std::string& flags, bool& target, const std::string& help) const;
  void positional(const std::string& name, std::string& target, const std::string& help,
                  bool required = true) const;
  /// Everything after the options (or after "--"). Where the first word is one that `goes_on`
  /// knows, options may follow it.
  void rest(const std::string& name, std::vector<std::string>& target, const std::string& help,
            std::function<bool(const std::string&)> goes_on = nullptr) const;
  /// Whole command lines that the help ends with.
  void examples(const std::vector<std::string>& lines) const;
  /// Does the option stand on the command line? To be asked in the action.
  [[nodiscard]] bool given(const std::string& option) const;
  /// Does "--" stand on the command line before the words that rest() took, or at least not among
  /// them? To be asked in the action.
  [[nodiscard]] static bool given_dashes(const std::vector<std::string>& rest) noexcept;
  /// Its options, as they are written.
  [[nodiscard]] std::vector<std::string> options() const;
  /// Called when it was chosen, and none below it, where there are such already; the exit status.
  void action(std::function<int()> run) const;

 private:
  CLI::App* app_;
};

/// The whole command line. Build the commands under root(), then run() once.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] Command root() const;
  /// Parses and runs the chosen command: its exit status, 0 after help, 2 after a mistake.
  int run(int argc, const char* const* argv);
  /// All commands with what may follow them, parents first.
  [[nodiscard]] std::vector<CompletedCommand> completed() const;
  /// What the help of each of them says, parents first.
  [[nodiscard]] std::vector<CommandHelp> helps() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace starling
