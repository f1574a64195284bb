/** The languages that a diff can have in colour. `highlight.ts` has the grammar of each. */
export type Language = (typeof endings)[number][0];

const endings = [
  ['bash', 'sh bash zsh ksh'],
  ['c', 'c h'],
  ['cpp', 'cpp cc cxx hpp hh hxx'],
  ['csharp', 'cs'],
  ['css', 'css scss'],
  ['dart', 'dart'],
  ['diff', 'diff patch'],
  ['dockerfile', 'dockerfile'],
  ['elixir', 'ex exs'],
  ['go', 'go'],
  ['graphql', 'graphql gql'],
  ['ini', 'ini toml cfg conf editorconfig gitconfig'],
  ['java', 'java'],
  ['javascript', 'js mjs cjs jsx'],
  ['json', 'json jsonc jsonl json5'],
  ['kotlin', 'kt kts'],
  ['lua', 'lua'],
  ['makefile', 'mk makefile'],
  ['markdown', 'md markdown'],
  ['php', 'php'],
  ['protobuf', 'proto'],
  ['python', 'py pyi'],
  ['ruby', 'rb rake gemspec gemfile rakefile'],
  ['rust', 'rs'],
  ['scala', 'scala'],
  ['sql', 'sql'],
  ['swift', 'swift'],
  ['typescript', 'ts mts cts tsx'],
  ['xml', 'xml html htm svg xhtml vue svelte plist'],
  ['yaml', 'yml yaml'],
] as const;

const byEnding: ReadonlyMap<string, Language> = new Map(
  endings.flatMap(([language, names]) => names.split(' ').map((name): [string, Language] => [name, language])),
);

/** The language of a file by its name; null for one that is shown without colours. */
export function languageOf(path: string): Language | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return byEnding.get(name.slice(name.lastIndexOf('.') + 1)) ?? null;
}
