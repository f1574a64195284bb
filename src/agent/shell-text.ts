/** Quotes a word so that a POSIX shell reads it back unchanged. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const variableName = /^[A-Za-z_]\w*$/;
const variablePrefix = /^([A-Za-z_]\w*)\*$/;

/** The name under which a variable of the account is passed until the login profile has run. */
export function keptName(name: string): string {
  return `BATON_KEPT_${name}`;
}

/** The exit code of the shell when a variable cannot be set or unset, because a login profile made it readonly. */
export const readonlyCode = 97;

/**
 * The text for `bash -lc`: the command of the workflow, unchanged. Before it, the text undoes what a login profile may
 * have changed: it sets the variables of the account again, which are passed under other names so that the text holds
 * no value, and it unsets the variables that hold tracker secrets once more (1.3 of the reference).
 */
export function loginShellText(command: string, denied: readonly string[], kept: readonly string[] = []): string {
  const names = denied.flatMap((name) => {
    const prefix = variablePrefix.exec(name)?.[1];
    if (prefix !== undefined) return [`\${!${prefix}@}`];
    return variableName.test(name) ? [name] : [];
  });
  const restored = kept.filter((name) => variableName.test(name));
  // A variable that a profile made readonly can be neither set nor unset: then nothing starts.
  const orExit = `|| exit ${readonlyCode}`;
  return [
    ...restored.map((name) => `export ${name}="$${keptName(name)}" ${orExit}; unset ${keptName(name)}`),
    // After the account's variables: an account must not bring a tracker secret either.
    ...(names.length === 0 ? [] : [`unset ${names.join(' ')} ${orExit}`]),
    command,
  ].join('; ');
}
