/** A text between quotes, as git reads one in its configuration and in a list of paths. */
export function quotedByGit(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
}
