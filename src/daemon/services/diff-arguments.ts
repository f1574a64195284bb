/** What a diff shows of one file at most. */
export const bytesAFile = 256 * 1024;

/** Nothing that a repository names is run, and nothing of the machine's settings changes what is shown. */
export const diffArguments = [
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--no-relative', '--ignore-submodules=all'],
  ...['--find-renames=50%', '-l500', '--src-prefix=a/', '--dst-prefix=b/'],
];
