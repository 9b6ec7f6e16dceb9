// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <sstream>
#include <utility>

#include "launch/command_line/exit_codes.h"
#include "launch/system/text.h"

namespace starling {
namespace {

/// Behind words in brackets, which CLI11 would take for lists and take apart: "[ -e a ]" is a
/// command.
constexpr char kAsItIs = '\x1f';
bool in_brackets(std::string_view word) {
  return word.size() > 1 && word.front() == '[' && word.back() == ']';
}
std::string as_said(std::string word) {
  if (word.ends_with(kAsItIs)) word.pop_back();
  return word;
}
/// It gets words as they were said.
CLI::Option* as_said(CLI::Option* option) {
  return option->transform(CLI::Validator(
      [](std::string& word) {
        word = as_said(std::move(word));
        return std::string();
      },
      ""));
}

std::ptrdiff_t dashes = 0;  // "--" of the one command line that a process has

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string spaced(const std::string& name) {
  const std::string prefix = "starling ";
  return name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : name;
}

std::string guess(const std::string& word, const std::vector<std::string>& names) {
  const auto near = nearest(word, names);
  return near ? "; did you mean '" + *near + "'?" : "";
}

/// The command that was chosen, as deep as the words went.
const CLI::App& chosen(const CLI::App& app) {
  for (const CLI::App* sub : app.get_subcommands()) return chosen(*sub);
  return app;
}

/// Walks the leading command words, so that a wrong one is named with what it may have meant.
std::optional<std::string> wrong_command(const CLI::App& root, int argc, const char* const* argv) {
  const CLI::App* app = &root;
  for (int i = 1;; ++i) {
    const auto names = command_names(*app);
    if (names.empty()) return std::nullopt;
    const std::string word = i < argc ? argv[i] : "";
    if (word.empty() && i >= argc && app->get_require_subcommand_min() == 0) return std::nullopt;
    if (!word.empty() && word[0] == '-') return std::nullopt;
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      std::string list;
      for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
      const std::string what = word.empty() ? "no command given" : "unknown command '" + word + "'";
      const std::string where = app == &root ? "" : spaced(full_name(*app)) + ": ";
      const std::string meant = word.empty() ? "" : guess(word, names);
      return where + what + (meant.empty() ? "; the commands are " + list : meant);
    }
    app = app->get_subcommand(word);
  }
}

std::string first_sentence(const std::string& text) {
  const auto end = text.find('\n');
  return text.substr(0, end);
}

/// CLI11 says "--jobs: At Most 1 required but received 2" and "--jobs: 1 required N missing".
std::string wrong_count(const std::string& said) {
  const std::string option = said.substr(0, said.find(": "));
  if (said.find("but received") != std::string::npos)
    return option + " is there more than once; give it once";
  const std::string required = " required ", missing = " missing";
  const auto from = said.find(required), to = said.rfind(missing);
  if (from == std::string::npos || to == std::string::npos || to < from) return said;
  const auto value = from + required.size();
  return option + " has no value; give " + said.substr(value, to - value);
}

std::string explain(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = chosen(root);
  const std::string where = spaced(full_name(app)) + ": ";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    auto extras = app.remaining(true);
    if (extras.empty()) extras = root.remaining(true);  // where CLI11 leaves what a late "--" ends
    const std::string word = extras.empty() ? "" : as_said(extras.front());
    if (!word.empty() && word[0] == '-') {
      const std::string meant = guess(word.substr(0, word.find('=')), option_names(app));
      return where + "unknown option '" + word + "'" +
             (meant.empty() ? "; see " + full_name(app) + " --help" : meant);
    }
    return where + "'" + word + "' was not expected; see " + full_name(app) + " --help";
  }
  const std::string said = first_sentence(error.what());
  const bool miscounted = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  return where + (miscounted ? wrong_count(said) : said) + "; see " + full_name(app) + " --help";
}

[[noreturn]] void wrong_value(const std::string& option, const std::string& text,
                              const std::string& right) {
  throw CLI::ValidationError(option, "'" + text + "' is wrong, give " + right);
}

std::string long_name(const std::string& flags) {
  const auto at = flags.find("--");
  return at == std::string::npos ? flags : flags.substr(at);
}

template <class T>
void add_whole(CLI::App& app, const std::string& flags, T& target, const std::string& value,
               const std::string& help, T least, T most) {
  const std::string name = long_name(flags);
  app.add_option_function<std::string>(
         flags,
         [&target, name, least, most](const std::string& text) {
           const auto n = parse_whole(text);
           if (!n || *n < least || *n > most) {
             wrong_value(
                 name, text,
                 "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
           }
           target = static_cast<T>(*n);
         },
         help)
      ->type_name(value);
}

void add_completed(const CLI::App& app, const std::string& path,
                   std::vector<CompletedCommand>& commands) {
  std::vector<std::string> words = command_names(app);
  for (std::string& name : option_names(app)) words.push_back(std::move(name));
  commands.push_back({path, std::move(words)});
  for (const CLI::App* sub : app.get_subcommands(nullptr))
    add_completed(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), commands);
}

/// The lines of the footer but its title.
std::vector<std::string> examples_of(const CLI::App& app) {
  std::vector<std::string> lines;
  std::istringstream footer(app.get_footer());
  for (std::string line; std::getline(footer, line);)
    if (line.rfind("  ", 0) == 0) lines.push_back(line.substr(2));
  return lines;
}

void add_help(const CLI::App& app, const std::string& path, std::vector<CommandHelp>& helps) {
  CommandHelp help{path, app.get_description(), {}, {}, {}, examples_of(app)};
  for (const CLI::Option* option : app.get_options()) {
    const bool flag = option->get_expected_max() == 0;
    if (option->nonpositional()) {
      std::string names;
      for (const std::string& name : option->get_snames())
        names += (names.empty() ? "-" : ", -") + name;
      for (const std::string& name : option->get_lnames())
        names += (names.empty() ? "--" : ", --") + name;
      help.options.push_back(
          {names, flag ? "" : option->get_type_name(), option->get_description()});
    } else {
      help.positionals.push_back({option->get_name(true), "", option->get_description()});
    }
  }
  for (const CLI::App* sub : app.get_subcommands(nullptr))
    help.commands.push_back({sub->get_name(), sub->get_description()});
  helps.push_back(std::move(help));
  for (const CLI::App* sub : app.get_subcommands(nullptr))
    add_help(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), helps);
}

}  // namespace

Command Command::sub(const std::string& name, const std::string& help) const {
  CLI::App* app = app_->add_subcommand(name, help);
  app->footer("");  // a command does not end with its parent's examples
  app_->require_subcommand(1);
  return Command(*app);
}

void Command::option(const std::string& flags, std::string& target, const std::string& value,
                     const std::string& help) const {
  const std::string name = long_name(flags);
  // What a script has no value for is not what is meant by leaving the option out.
  as_said(app_->add_option_function<std::string>(
              flags,
              [&target, name, value](const std::string& text) {
                if (text.empty()) throw CLI::ValidationError(name, "is empty, give " + value);
                target = text;
              },
              help))
      ->type_name(value);
}

void Command::option(const std::string& flags, std::optional<std::string>& target,
                     const std::string& value, const std::string& help) const {
  as_said(app_->add_option_function<std::string>(
              flags, [&target](const std::string& text) { target = text; }, help))
      ->type_name(value);
}

void Command::option(const std::string& flags, std::uint64_t& target, const std::string& value,
                     const std::string& help, std::uint64_t least, std::uint64_t most) const {
  add_whole<std::uint64_t>(*app_, flags, target, value, help, least, most);
}

void Command::option(const std::string& flags, std::uint32_t& target, const std::string& value,
                     const std::string& help, std::uint32_t least, std::uint32_t most) const {
  add_whole<std::uint32_t>(*app_, flags, target, value, help, least, most);
}

void Command::option(const std::string& flags, double& target, const std::string& value,
                     const std::string& help, double above, bool inclusive) const {
  const std::string name = long_name(flags);
  app_->add_option_function<std::string>(
          flags,
          [&target, name, above, inclusive](const std::string& text) {
            const auto x = parse_decimal(text);
            if (!x || (inclusive ? *x < above : *x <= above)) {
              char right[64];
              std::snprintf(right, sizeof right, "a number %s %g",
                            inclusive ? "of at least" : "above", above);
              wrong_value(name, text, right);
            }
            target = *x;
          },
          help)
      ->type_name(value);
}

void Command::flag(const std::string& flags, bool& target, const std::string& help) const {
  app_->add_flag_callback(
      flags, [&target] { target = true; }, help);
}

void Command::positional(const std::string& name, std::string& target, const std::string& help,
                         bool required) const {
  as_said(app_->add_option(name, target, help))->required(required)->type_name("");
}

void Command::rest(const std::string& name, std::vector<std::string>& target,
                   const std::string& help, std::function<bool(const std::string&)> goes_on) const {
  CLI::Option* words = as_said(app_->add_option(name, target, help))->type_name("");
  app_->positionals_at_end();
  if (!goes_on) return;
  // CLI11 asks a check about each word before it takes it, and only then whether options are over.
  app_->validate_positionals();
  words->check([app = app_, words, goes_on = std::move(goes_on)](const std::string& word) {
    if (words->count() == 0 && goes_on(word)) app->positionals_at_end(false);
    return std::string();
  });
}

void Command::examples(const std::vector<std::string>& lines) const {
  std::string text = lines.size() == 1 ? "Example:" : "Examples:";
  for (const std::string& line : lines) text += "\n  " + line;
  app_->footer(text);
}

bool Command::given(const std::string& option) const {
  const CLI::Option* found = app_->get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

bool Command::given_dashes(const std::vector<std::string>& rest) noexcept {
  return dashes > std::count(rest.begin(), rest.end(), "--");
}

std::vector<std::string> Command::options() const { return option_names(*app_); }

void Command::action(std::function<int()> run) const {
  if (!app_->get_subcommands({}).empty()) app_->require_subcommand(0, 1);
  // The status travels as an exception, because CLI11's callbacks return nothing.
  app_->callback([run = std::move(run)] { throw CLI::RuntimeError(run()); });
}

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->name(name);
  app_->set_version_flag("--version", name + " " + version);
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() const { return Command(*app_); }

int CommandLine::run(int argc, const char* const* argv) {
  if (argc < 2) {
    std::fputs(app_->help().c_str(), stderr);
    return kBadInput;
  }
  // "help jobs" is "jobs --help".
  std::vector<const char*> asked(argv, argv + argc);
  if (std::string_view(argv[1]) == "help") {
    asked.erase(asked.begin() + 1);
    asked.push_back("--help");
    argv = asked.data();
  }
  dashes = std::count_if(argv + 1, argv + argc,
                         [](const char* word) { return std::string_view(word) == "--"; });
  if (const auto wrong = wrong_command(*app_, argc, argv)) return bad_input(*wrong);
  std::vector<std::string> words;  // the last one first
  for (int i = argc; i-- > 1;) {
    words.emplace_back(argv[i]);
    if (in_brackets(words.back())) words.back() += kAsItIs;
  }
  try {
    app_->parse(std::move(words));
  } catch (const CLI::RuntimeError& status) {
    return status.get_exit_code();
  } catch (const CLI::Success& help) {
    return app_->exit(help);
  } catch (const CLI::ParseError& error) {
    return bad_input(explain(*app_, error));
  }
  return kDone;
}

std::vector<CompletedCommand> CommandLine::completed() const {
  std::vector<CompletedCommand> commands;
  add_completed(*app_, "", commands);
  return commands;
}

std::vector<CommandHelp> CommandLine::helps() const {
  std::vector<CommandHelp> helps;
  add_help(*app_, "", helps);
  return helps;
}

}  // namespace starling
