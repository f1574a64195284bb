import { totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import { cachedFileBytes, memoryStatFiles } from '../../src/process/control-group-memory.ts';
import { freeMemoryMb } from '../../src/process/free-memory.ts';

describe('free memory', () => {
  it('is a positive number of whole megabytes, at most the memory of the machine', async () => {
    const free = await freeMemoryMb();
    expect(Number.isInteger(free)).toBe(true);
    expect(free).toBeGreaterThan(0);
    expect(free).toBeLessThanOrEqual(totalmem() / 1024 ** 2);
  });
});

describe('memory of a control group', () => {
  it.each([
    ['0::/\n', ['/sys/fs/cgroup/memory.stat']],
    [
      '0::/system.slice/x.service\n',
      ['/sys/fs/cgroup/system.slice/x.service/memory.stat', '/sys/fs/cgroup/memory.stat'],
    ],
    [
      '5:cpu,memory:/docker/a:b\n0::/x\n',
      ['/sys/fs/cgroup/memory/docker/a:b/memory.stat', '/sys/fs/cgroup/memory/memory.stat'],
    ],
    ['4:memory:/\n0::/\n', ['/sys/fs/cgroup/memory/memory.stat']],
    ['3:memoryx:/a\n', ['/sys/fs/cgroup/memory.stat']],
    ['', ['/sys/fs/cgroup/memory.stat']],
  ])('finds the memory figures of %j', (groups, files) => {
    expect(memoryStatFiles(groups)).toEqual(files);
  });

  it.each([
    ['anon 5\nfile 900\nshmem 7\ninactive_file 300\nactive_file 20\n', 320],
    ['inactive_file 1\nactive_file 2\ntotal_inactive_file 10\ntotal_active_file 20\n', 30],
    ['inactive_file 12\n', 12],
    ['', 0],
    ['nonsense', 0],
  ])('counts cached files, and nothing else, in %j', (stats, bytes) => {
    expect(cachedFileBytes(stats)).toBe(bytes);
  });
});
