/**
 * The files that may hold the memory figures of a control group, given the text of `/proc/<pid>/cgroup`: those of the
 * version 1 memory controller if there is one, otherwise those of the version 2 group. In a container the path may be
 * that of the host; the figures are then at the top.
 */
export function memoryStatFiles(groups: string): string[] {
  const ofController = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(groups)?.[1];
  const top = ofController === undefined ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
  const group = ofController ?? /^0::(.*)$/m.exec(groups)?.[1] ?? '/';
  return [...new Set([`${top}${group === '/' ? '' : group}/memory.stat`, `${top}/memory.stat`])];
}

/**
 * Bytes of cached files that the kernel charges to a control group, from its `memory.stat`. Version 1 has each figure
 * twice: for the group alone, and with its subgroups (`total_`). The one with subgroups counts.
 */
export function cachedFileBytes(stats: string): number {
  const figures = new Map([...stats.matchAll(/^(\w+) (\d+)$/gm)].map(([, name, bytes]) => [name, Number(bytes)]));
  const figure = (name: string): number => figures.get(`total_${name}`) ?? figures.get(name) ?? 0;
  return figure('active_file') + figure('inactive_file');
}
