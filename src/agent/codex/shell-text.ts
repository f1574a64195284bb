/** A word as a POSIX shell reads it back unchanged, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const variableName = /^[A-Za-z_]\w*$/;
const variablePrefix = /^([A-Za-z_]\w*)\*$/;

/** Under which name a variable of the account waits until the login profile is through. */
export function keptName(name: string): string {
  return `BATON_KEPT_${name}`;
}

/** How the shell exits when a variable cannot be set or unset, because a login profile made it readonly. */
export const readonlyCode = 97;

/**
 * What `bash -lc` is given: the command of the workflow, unchanged. Before it, what a login profile may have changed is put
 * right: the variables of the account, which wait under another name so that no value is in the text, are set again, and
 * those that hold tracker secrets are unset once more (1.3 of the reference).
 */
export function loginShellText(command: string, denied: readonly string[], kept: readonly string[] = []): string {
  const names = denied.flatMap((name) => {
    const prefix = variablePrefix.exec(name)?.[1];
    if (prefix !== undefined) return [`\${!${prefix}@}`];
    return variableName.test(name) ? [name] : [];
  });
  const restored = kept.filter((name) => variableName.test(name));
  // What a profile made readonly can be neither set nor unset: then nothing is started.
  const orExit = `|| exit ${readonlyCode}`;
  return [
    ...restored.map((name) => `export ${name}="$${keptName(name)}" ${orExit}; unset ${keptName(name)}`),
    // After them: an account must not bring a secret of the tracker either.
    ...(names.length === 0 ? [] : [`unset ${names.join(' ')} ${orExit}`]),
    command,
  ].join('; ');
}
