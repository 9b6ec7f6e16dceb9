// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/completion.h"

namespace starling {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// All paths but the program's own, in quotes.
std::string paths(const std::vector<CompletedCommand>& commands, const char* between) {
  std::vector<std::string> quoted;
  for (const CompletedCommand& command : commands) {
    if (!command.path.empty()) quoted.push_back("'" + command.path + "'");
  }
  return joined(quoted, between);
}

/// In bash and zsh: how far the words before the one to complete are a command, and in `offer` what
/// may follow it. `words`: their array; [first, last) are those before.
std::string walk(const std::vector<CompletedCommand>& commands, const std::string& words,
                 const std::string& first, const std::string& last) {
  std::string script =
      "  local at='' offer='' next i\n"
      "  for ((i = " +
      first + "; i < " + last +
      "; i++)); do\n"
      "    next=\"${at:+$at }${" +
      words +
      "[i]}\"\n"
      "    case $next in " +
      paths(commands, "|") +
      ") at=$next ;; *) break ;; esac\n"
      "  done\n"
      "  case $at in\n";
  for (const CompletedCommand& command : commands)
    script += "    '" + command.path + "') offer='" + joined(command.words, " ") + "' ;;\n";
  return script + "  esac\n";
}

}  // namespace

std::string bash_completion(const std::string& program,
                            const std::vector<CompletedCommand>& commands) {
  const std::string name = "_" + program + "_complete";
  return "# bash completion for " + program + "\n" + name + "() {\n" +
         walk(commands, "COMP_WORDS", "1", "COMP_CWORD") +
         "  COMPREPLY=($(compgen -W \"$offer\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "  [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "
         "\"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\ncomplete -F " +
         name + " " + program + "\n";
}

// zsh counts from 1, and has the program in the first word. The first line is for fpath, where the
// file is the function; the last ones tell that from a script that is sourced.
std::string zsh_completion(const std::string& program,
                           const std::vector<CompletedCommand>& commands) {
  const std::string name = "_" + program;
  return "#compdef " + program + "\n" + name + "() {\n" + walk(commands, "words", "2", "CURRENT") +
         "  compadd -- ${=offer} || _files\n"
         "}\n"
         "if [[ ${funcstack[1]} == " +
         name + " ]]; then\n  " + name +
         " \"$@\"\nelse\n"
         "  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
         "  compdef " +
         name + " " + program + "\nfi\n";
}

std::string fish_completion(const std::string& program,
                            const std::vector<CompletedCommand>& commands) {
  const std::string name = "__" + program + "_words";
  std::string script = "# fish completion for " + program + "\nfunction " + name +
                       "\n"
                       "  set -l at ''\n"
                       "  for word in (commandline -opc)[2..-1]\n"
                       "    set -l next (string trim -- \"$at $word\")\n"
                       "    switch $next\n"
                       "      case " +
                       paths(commands, " ") +
                       "\n"
                       "        set at $next\n"
                       "      case '*'\n"
                       "        break\n"
                       "    end\n"
                       "  end\n"
                       "  switch $at\n";
  for (const CompletedCommand& command : commands) {
    script += "    case '" + command.path + "'\n      string split ' ' -- '" +
              joined(command.words, " ") + "'\n";
  }
  return script + "  end\nend\ncomplete -c " + program + " -a '(" + name + ")'\n";
}

}  // namespace starling
