/**
 * Removes likely secrets from a text that a person wrote, such as the command line of an agent or a hook: the user part
 * of an address, keys with a known prefix, values of names that mean a secret, and the word after `Bearer`. A reference
 * such as `$TOKEN` is not a secret. It is for showing settings to others; it finds what people commonly write there,
 * and cannot find everything.
 */
export function withoutSecrets(text: string): string {
  return rules.reduce((clean, [pattern, shown]) => clean.replaceAll(pattern, shown), text);
}

const hidden = '[secret]';
/** The characters of a value, quoted or not; a reference to a variable is not matched. */
const value = String.raw`(?:"(?!\$)[^"]+"|'[^']+'|(?!["'$]|\[secret\])[^\s"'&;|]+)`;
const secretName =
  '[a-z0-9_-]*(?:(?:api|access|private)[_-]?key|token|secret|password|passwd|passphrase|credentials?)[a-z0-9_-]*';

const rules: readonly (readonly [RegExp, string])[] = [
  [/([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/gi, `$1${hidden}@`],
  [/\b(?:sk|rk|pk)-[\w-]{8,}/g, hidden],
  [/\b(?:gh[opusr]_|github_pat_|glpat-|lin_(?:api|oauth)_|npm_|xox[abeprs]-|hf_)[\w-]{8,}/g, hidden],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b|\bAIza[\w-]{20,}/g, hidden],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, hidden],
  [/(\/\/hooks\.slack\.com\/\w+\/)[\w/-]+/gi, `$1${hidden}`],
  [/\b(Bearer|Basic)\s+(?!\$|\[secret\])[\w.~+/=-]{6,}/gi, `$1 ${hidden}`],
  [new RegExp(String.raw`(?<![\w-])(--?${secretName})([ =])${value}`, 'gi'), `$1$2${hidden}`],
  [new RegExp(String.raw`(?<![\w$-])(${secretName})=${value}`, 'gi'), `$1=${hidden}`],
];
