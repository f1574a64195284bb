/**
 * The words of shell text that may name a program: names, and absolute paths. More words than programs, because only the
 * machine can tell; a quoted word may have spaces.
 */
export function programsIn(command: string): readonly string[] {
  const quoted = [...command.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double ?? '');
  const words = [...command.split(/[\s;&|()'"<>]+/), ...quoted];
  return [...new Set(words)].filter((word) => /^~?\/./.test(word) || /^[\w.+@-]+$/.test(word));
}
