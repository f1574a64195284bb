/**
 * Where the memory figures of a process's control group may be, by its `/proc/<pid>/cgroup`: the memory controller of
 * version 1 where it has one, otherwise the single group of version 2. In a container the path may be that of the host;
 * the figures are then at the top.
 */
export function memoryStatFiles(groups: string): string[] {
  const ofController = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m.exec(groups)?.[1];
  const top = ofController === undefined ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
  const group = ofController ?? /^0::(.*)$/m.exec(groups)?.[1] ?? '/';
  return [...new Set([`${top}${group === '/' ? '' : group}/memory.stat`, `${top}/memory.stat`])];
}

/**
 * Bytes of files in memory that are charged to a control group, by its `memory.stat`. Version 1 has the figures with
 * (`total_`) and without those of the groups below; the whole counts.
 */
export function cachedFileBytes(stats: string): number {
  const figures = new Map([...stats.matchAll(/^(\w+) (\d+)$/gm)].map(([, name, bytes]) => [name, Number(bytes)]));
  const figure = (name: string): number => figures.get(`total_${name}`) ?? figures.get(name) ?? 0;
  return figure('active_file') + figure('inactive_file');
}
