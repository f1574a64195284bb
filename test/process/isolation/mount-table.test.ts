import { describe, expect, it } from 'vitest';
import { aliasesOf, parseMounts, visibleMounts } from '../../../src/process/isolation/mount-table.ts';

/** Lines of /proc/self/mountinfo. */
function table(...rows: [id: number, parent: number, device: string, root: string, point: string][]): string {
  return rows
    .map(([id, parent, device, root, point]) => `${id} ${parent} ${device} ${root} ${point} rw,nosuid - ext4 /dev/x rw`)
    .join('\n');
}

describe('the table of mounts', () => {
  it('is read with its quoted characters, and without lines that are cut', () => {
    const text = `${table([22, 1, '8:1', '/', '/a\\040b\\134c'])}\n23 22\n\n`;
    expect(parseMounts(text)).toEqual([
      { id: '22', parent: '1', device: '8:1', root: '/', point: '/a b\\c', options: ['rw', 'nosuid'] },
    ]);
  });

  it('has only mounts that a path leads to', () => {
    const mounts = parseMounts(
      table(
        [1, 0, '8:1', '/', '/'],
        [2, 1, '8:2', '/', '/a/b'],
        [3, 1, '8:3', '/', '/a'],
        [4, 3, '8:4', '/', '/a/c'],
        [5, 4, '8:5', '/', '/a/c'],
      ),
    );
    // 3 covers 2, and 5 covers 4.
    expect(visibleMounts(mounts).map(({ id }) => id)).toEqual(['1', '3', '5']);
  });

  it('knows the other names of a folder', () => {
    const mounts = parseMounts(
      table(
        [1, 0, '8:1', '/', '/'],
        [2, 1, '8:1', '/home', '/mnt'],
        [3, 1, '8:1', '/home/me', '/me'],
        [4, 1, '8:2', '/home', '/other'],
        [5, 1, '8:1', '/var', '/v'],
      ),
    );
    expect(aliasesOf('/home/me/secret', mounts)).toEqual(['/mnt/me/secret', '/me/secret']);
    expect(aliasesOf('/mnt/me', mounts)).toEqual(['/home/me', '/me']);
    expect(aliasesOf('/other/me', mounts)).toEqual([]);
  });
});
