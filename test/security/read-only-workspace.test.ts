// @module-tag full
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { IsolationScene, type Who, whoHere } from './isolation-scene.ts';
import { describeIsolated } from './machine.ts';

/** What an agent may try to change the workspace that it only reads. */
const attempts: Readonly<Record<string, string>> = {
  'writes and removes files': 'echo changed > file; echo new > added; rm -f file; mkdir folder; chmod 777 file',
  'writes by other paths': 'echo changed > "$1/workspaces/own/file"; echo changed > /proc/self/cwd/file',
  'mounts it again for writing': `unshare --user --map-root-user --mount sh -c 'mount -o remount,bind,rw "$1/workspaces/own"; mount --bind "$1/workspaces/own" /mnt; mount -o remount,bind,rw /mnt; echo changed > /mnt/file; umount -l "$1/workspaces/own"; echo changed > "$1/workspaces/own/file"' sh "$1"`,
  'writes its git directory': 'echo changed > "$1/state/git/own/HEAD"',
};

describeIsolated('a process in a workspace that it only reads', { timeout: 120_000 }, () => {
  const cases = whoHere.flatMap((who) => Object.entries(attempts).map(([title, script]) => [who, title, script]));

  it.each(cases as [Who, string, string][])('as %s changes nothing when it %s', (who, _, script) => {
    using scene = new IsolationScene(who);
    scene.write('workspaces/own/file', 'original');
    scene.write('state/git/own/HEAD', 'original');
    scene.outside(['chmod', '-R', 'a+rwX', scene.at('workspaces/own'), scene.at('state/git/own')]);
    scene.isolated(script, { isReadOnly: true, write: [scene.at('workspaces'), scene.at('workspaces/own/file')] });
    expect(readdirSync(scene.at('workspaces/own'))).toEqual(['file']);
    expect(readFileSync(scene.at('workspaces/own/file'), 'utf8')).toBe('original');
    expect(readFileSync(scene.at('state/git/own/HEAD'), 'utf8')).toBe('original');
  });

  it.each(whoHere)('as %s reads it, cannot write to it, and has a folder for temporary files', (who) => {
    using scene = new IsolationScene(who);
    scene.write('workspaces/own/file', 'original');
    const script = 'cat file; echo scratch > /tmp/scratch && cat /tmp/scratch; LC_ALL=C touch added';
    const { code, stdout, stderr } = scene.isolated(script, { isReadOnly: true });
    expect(stdout).toBe('originalscratch\n');
    expect(stderr).toContain('Read-only file system');
    expect(code).not.toBe(0);
  });
});
