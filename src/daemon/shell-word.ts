/** One word of shell text, whatever is in it. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
