const longestBranch = 250;

/** What `git check-ref-format --branch` would refuse, as far as a name alone tells. */
export function isPlausibleBranch(name: string): boolean {
  const parts = name.split('/');
  return (
    name.length <= longestBranch &&
    name !== '@' &&
    !name.startsWith('-') &&
    !/[\s\p{Cc}~^:?*[\\]|\.\.|@\{/u.test(name) &&
    !name.endsWith('.') &&
    parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}
