const secretName = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|AUTH)(?:_|$)/i;
/** How keys of well-known services begin. */
const keyBeginning = /^(?:sk-|pk-|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|lin_api_|AKIA|AIza|eyJ)/;
const credentialsInAddress = /:\/\/[^/@\s]*:[^/@\s]*@/;
/** Letters and digits mixed, without a space or a slash, and longer than any word. */
const longAndRandom = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_+=.-]{32,}$/;

/** Whether a variable with this value is probably a secret: by how it is called, or by how its value looks. */
export function looksLikeSecret(name: string, value: string): boolean {
  const text = value.trim();
  if (text === '') return false;
  return (
    secretName.test(name) || keyBeginning.test(text) || credentialsInAddress.test(text) || longAndRandom.test(text)
  );
}
