import type { CommandRow } from './command-table.js';

/** The scripts by shell. Each holds all commands and options, so a completion starts no program. */
export const COMPLETIONS: Readonly<Record<string, (rows: readonly CommandRow[]) => string>> = {
  bash,
  zsh,
  fish,
};

/** Text in single quotes, for bash and zsh. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** The same for fish, where a backslash escapes in quotes. */
const fishQuote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
const subcommands = (rows: readonly CommandRow[]): string[] => rows.slice(1).map(({ path }) => quote(path));

function bash(rows: readonly CommandRow[]): string {
  const cases = rows.map(({ path, options, children }) => {
    const names = children.map(({ name }) => name).join(' ');
    return `    ${quote(path)}) commands=${quote(names)} options=${quote(options.map(({ long }) => long).join(' '))} ;;`;
  });
  const values = rows.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        (each) =>
          `    ${quote(`${path} ${each.long}`)}) commands=${quote(each.values.join(' '))} options= ;;`,
      ),
  );
  return `# Completion of packhouse for bash: source <(packhouse completion bash)
_packhouse() {
  local at=packhouse commands= options= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${subcommands(rows).join('|')}) at+=" $word" ;;
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  # The value of an option; without known ones, files.
  case "$at \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
  esac
  [[ \${COMP_WORDS[COMP_CWORD]} != -* ]] || commands=$options
  COMPREPLY=($(compgen -W "$commands" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _packhouse packhouse
`;
}

function zsh(rows: readonly CommandRow[]): string {
  const item = (name: string, summary: string): string => quote(`${name}:${summary.replaceAll(':', '\\:')}`);
  const cases = rows.map(
    ({ path, options, children }) => `    ${quote(path)})
      commands=(${children.map(({ name, summary }) => item(name, summary)).join(' ')})
      options=(${options.map(({ long, summary }) => item(long, summary)).join(' ')}) ;;`,
  );
  const values = rows.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((each) => {
        const action = each.values.length > 0 ? `compadd -- ${each.values.join(' ')}` : '_files';
        return `    ${quote(`${path} ${each.long}`)}) ${action}; return ;;`;
      }),
  );
  return `#compdef packhouse
# Completion of packhouse for zsh: source <(packhouse completion zsh), or a file _packhouse in a folder of fpath
_packhouse() {
  local at=packhouse word
  local -a commands options
  for word in \${words[2,CURRENT-1]}; do
    case "$at $word" in
      ${subcommands(rows).join('|')}) at+=" $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$at" in
${cases.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe -o option options
  elif (( $#commands )); then _describe command commands
  else _files
  fi
}
if [[ $funcstack[1] == _packhouse ]]; then _packhouse "$@"; else compdef _packhouse packhouse; fi
`;
}

function fish(rows: readonly CommandRow[]): string {
  const lines = rows.flatMap(({ path, args, options, children }) => {
    const here = `complete -c packhouse -n ${fishQuote(`__packhouse_at ${fishQuote(path)}`)}`;
    return [
      ...children.map(({ name, summary }) => `${here} -a ${name} -d ${fishQuote(summary)}`),
      ...options.map((each) => {
        const words = each.values.length > 0 ? ` -x -a ${fishQuote(each.values.join(' '))}` : ' -r -F';
        return `${here} -l ${each.long.slice(2)}${each.takesValue ? words : ''} -d ${fishQuote(each.summary)}`;
      }),
      ...(args.length > 0 ? [`${here} -F`] : []),
    ];
  });
  return `# Completion of packhouse for fish: packhouse completion fish | source
function __packhouse_at
  set -l at packhouse
  set -l words (commandline -opc)
  for word in $words[2..]
    switch "$at $word"
      case ${rows
        .slice(1)
        .map(({ path }) => fishQuote(path))
        .join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c packhouse -f
${lines.join('\n')}
`;
}
