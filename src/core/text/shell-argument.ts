/** One word of a command that is shown to be copied: quoted only where a shell would read something else into it. */
export function shellArgument(text: string): string {
  return /^[\w./+:@%,][\w./+:@%,=#-]*$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}
