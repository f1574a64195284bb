/** A fetch that brings what it was asked for and nothing else, and says nothing. */
export const quietFetch: readonly string[] = [
  ...['fetch', '--quiet', '--no-tags', '--no-prune', '--no-write-fetch-head', '--no-auto-maintenance', '--refmap='],
  '--no-recurse-submodules',
];
