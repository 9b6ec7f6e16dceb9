// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/manual.h"

#include <algorithm>
#include <cctype>

#include "launch/system/files.h"

namespace starling {
namespace {

/// Text as man(7) takes it: what would be an escape or a request is a letter like any other, and a
/// hyphen one that can be copied.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool first = out.empty() || out.back() == '\n';
    if (first && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// An argument of a macro.
std::string macro_argument(const std::string& text) {
  std::string out = "\"";
  for (const char c : escaped(text)) c == '"' ? out += "\\(dq" : out += c;
  return out + '"';
}

/// Up to the name, by which a page is known again.
std::string first_line(const std::string& name) { return ".TH " + macro_argument(upper(name)); }

std::string options_of(const std::vector<CommandHelp::Option>& options) {
  std::string page;
  for (const CommandHelp::Option& option : options) {
    page += ".TP\n" + bold(option.names);
    if (!option.value.empty()) page += " " + italic(option.value);
    page += "\n" + (option.help.empty() ? "\\&" : escaped(option.help)) + "\n";
  }
  return page;
}

std::string synopsis(const std::string& program, const CommandHelp& command) {
  std::string line = bold(command.path.empty() ? program : program + " " + command.path);
  if (!command.commands.empty()) line += " " + italic("COMMAND");
  if (!command.options.empty()) line += " [" + italic("OPTIONS") + "]";
  for (const CommandHelp::Option& word : command.positionals)
    line += " [" + italic(word.names) + "]";
  return line + "\n";
}

}  // namespace

std::string manual_name(const std::string& program, const CommandHelp& command) {
  std::string name = command.path.empty() ? program : program + "-" + command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string manual_page(const std::string& program, const std::string& version,
                        const CommandHelp& command) {
  const std::string name = manual_name(program, command);
  std::string page = first_line(name) + " 1 \"\" " + macro_argument(program + " " + version) + " " +
                     macro_argument("User Commands") + "\n";
  page += ".SH NAME\n" + escaped(name) + " \\- " + escaped(command.help) + "\n";
  page += ".SH SYNOPSIS\n" + synopsis(program, command);
  if (!command.positionals.empty()) page += ".SH ARGUMENTS\n" + options_of(command.positionals);
  if (!command.options.empty()) page += ".SH OPTIONS\n" + options_of(command.options);
  if (!command.commands.empty()) {
    page += ".SH COMMANDS\n";
    for (const CommandHelp::Below& below : command.commands) {
      page += ".TP\n" + bold(name + "-" + below.name) + "(1)\n" + escaped(below.help) + "\n";
    }
  }
  if (!command.examples.empty()) {
    page += ".SH EXAMPLES\n.EX\n";
    for (const std::string& line : command.examples) page += escaped(line) + "\n";
    page += ".EE\n";
  }
  if (command.path.empty()) {
    page +=
        ".SH EXIT STATUS\n0: done. 2: the command line or a file is wrong; what is wrong and "
        "what would be right is said on the standard error. 1: anything else that failed.\n";
  } else {
    page += ".SH SEE ALSO\n" + bold(program) + "(1)\n";
  }
  return page;
}

Result<std::size_t> write_manual(const std::filesystem::path& folder, const std::string& program,
                                 const std::string& version,
                                 const std::vector<CommandHelp>& commands) {
  if (Status made = make_folder(folder); !made.ok()) return made.error();
  const auto file_of = [&](const CommandHelp& command) {
    return folder / (manual_name(program, command) + ".1");
  };
  for (const CommandHelp& command : commands) {
    const std::filesystem::path file = file_of(command);
    const auto there = read_text(file);
    if (!there && there.error().code == Errc::not_found) continue;
    if (!there) return there.error();
    if (there.value().rfind(first_line(manual_name(program, command)), 0) != 0)
      return {Errc::invalid, file.string() + " is no page of " + program +
                                 "; move it away, or name another folder"};
  }
  for (const CommandHelp& command : commands) {
    if (Status written = write_text(file_of(command), manual_page(program, version, command));
        !written.ok())
      return written.error();
  }
  return commands.size();
}

}  // namespace starling
