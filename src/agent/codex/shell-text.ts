/** A word as a POSIX shell reads it back unchanged, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const variableName = /^[A-Za-z_]\w*$/;
const variablePrefix = /^([A-Za-z_]\w*)\*$/;

/**
 * What `bash -lc` is given: the command of the workflow, unchanged. Before it, the variables that hold tracker secrets are
 * unset once more, because a login profile may have exported them again (1.3 of the reference).
 */
export function loginShellText(command: string, denied: readonly string[]): string {
  const names = denied.flatMap((name) => {
    const prefix = variablePrefix.exec(name)?.[1];
    if (prefix !== undefined) return [`\${!${prefix}@}`];
    return variableName.test(name) ? [name] : [];
  });
  return names.length === 0 ? `exec ${command}` : `unset ${names.join(' ')}; exec ${command}`;
}
