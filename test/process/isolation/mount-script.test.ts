import { describe, expect, it } from 'vitest';
import type { LocatedPlan, LocatedRule } from '../../../src/process/isolation/locate-rules.ts';
import { mountScript, systemFiles } from '../../../src/process/isolation/mount-script.ts';

const user = 1000;

function rule(target: string, access: LocatedRule['access'], more: Partial<LocatedRule> = {}): LocatedRule {
  return { target, source: target, access, kind: 'folder', ...more };
}

function scriptOf(rules: readonly LocatedRule[], more: Partial<LocatedPlan> = {}, userId = user) {
  const mounts = [
    { id: '1', parent: '0', device: '8:1', root: '/', point: '/', options: ['rw', 'nosuid'] },
    { id: '2', parent: '1', device: '0:5', root: '/', point: '/proc', options: ['rw'] },
  ];
  const sorted = rules.toSorted((a, b) => (a.target < b.target ? -1 : 1));
  return mountScript({ rules: sorted, files: [], mounts, present: new Set(systemFiles), ...more }, userId);
}

/** Source, target, type and options of each line. */
function lines(table: string): string[][] {
  return table
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ').slice(0, 4))
    .map(([source = '', target = '', type = '', options = '']) => [source, target.slice(2), type, options]);
}

const targetsOf = (table: string): (string | undefined)[] => lines(table).map(([, target]) => target);

describe('the mounts of an isolated child', () => {
  it('stage a path for writing before everything becomes read-only, and one for reading after', () => {
    const { covering } = scriptOf([rule('/a', 'private'), rule('/a/read', 'read'), rule('/a/write', 'write')]);
    const sources = lines(covering).map(([source, target, , options]) =>
      options?.startsWith('remount') ? target : source,
    );
    expect(sources.filter((each) => ['/a/write', '/', '/a/read'].includes(each ?? ''))).toEqual([
      '/a/write',
      '/',
      '/a/read',
    ]);
  });

  it('keep the strict flags of a mount, add nodev, and leave the new /proc', () => {
    const remounted = lines(scriptOf([]).covering).filter(([, , , options]) => options?.startsWith('remount'));
    expect(remounted).toEqual([['none', '/', 'none', 'remount,bind,ro,nodev,nosuid']]);
  });

  it('need none for a path for reading that nothing hides', () => {
    const with_ = scriptOf([rule('/opt', 'read')]);
    expect(with_).toEqual(scriptOf([]));
  });

  it('hide nothing twice', () => {
    expect(scriptOf([rule('/a', 'private'), rule('/a/secret', 'hidden')])).toEqual(scriptOf([rule('/a', 'private')]));
  });

  it('hide a path in a folder that is shown, after it is shown', () => {
    const { showing } = scriptOf([rule('/a', 'private'), rule('/a/b', 'read'), rule('/a/b/secret', 'hidden')]);
    expect(targetsOf(showing).slice(0, 2)).toEqual(['/a/b', '/a/b/secret']);
  });

  it('cover a file with an empty one', () => {
    const { showing } = scriptOf([rule('/etc/shadow', 'hidden', { kind: 'file' })]);
    expect(lines(showing)).toContainEqual(['/dev/null', '/etc/shadow', 'none', 'bind']);
  });

  it('make a file for each file that is shown in a covered folder, and the files of the plan', () => {
    const { files } = scriptOf([rule('/home/me', 'private'), rule('/home/me/.profile', 'read', { kind: 'file' })], {
      files: [{ path: '/home/me/.gitconfig', text: 'x' }],
    });
    expect(files).toEqual([
      { path: '/home/me/.gitconfig', text: 'x' },
      { path: '/home/me/.profile', text: '' },
    ]);
  });

  it('make the files of a private folder in a shown one where it waits to be shown', () => {
    const rules = [rule('/shown', 'write'), rule('/shown/home', 'private')];
    const profile = rule('/shown/home/.profile', 'read', { kind: 'file' });
    const script = scriptOf([...rules, profile], { files: [{ path: '/shown/home/.gitconfig', text: 'x' }] });
    const staged = lines(script.showing).find(([, target]) => target === '/shown/home')?.[0];
    expect(targetsOf(script.covering)).toContain(staged);
    expect(script.files).toEqual([
      { path: `${staged}/.gitconfig`, text: 'x' },
      { path: `${staged}/.profile`, text: '' },
    ]);
    expect(targetsOf(script.showing).slice(0, 3)).toEqual(['/shown', '/shown/home', '/shown/home/.profile']);
  });

  it('share one layer for the folders of a covered folder, which writes to folders of the stage', () => {
    const cached = ['/a/cache', '/a/tools/deep'].map((target) => rule(target, 'layered'));
    const { covering, folders, showing } = scriptOf([rule('/a', 'private'), ...cached]);
    const layers = lines(showing).filter(([, , type]) => type === 'overlay');
    expect(layers).toHaveLength(1);
    const [[, at = '', , options] = []] = layers;
    expect(folders).toHaveLength(2);
    for (const folder of folders) expect(options).toContain(`=${folder},`);
    const lower = lines(covering).find(([source]) => source === '/a')?.[1];
    expect(options).toContain(`lowerdir=${lower},`);
    for (const { target } of cached)
      expect(lines(showing)).toContainEqual([
        at + target.slice('/a'.length),
        target,
        'none',
        expect.stringContaining('bind'),
      ]);
  });

  it('give a folder on another mount, or behind a link, a layer of its own', () => {
    const mounts = [
      { id: '1', parent: '0', device: '8:1', root: '/', point: '/', options: ['rw'] },
      { id: '2', parent: '1', device: '8:2', root: '/', point: '/a/disk', options: ['rw'] },
    ];
    const rules = [
      rule('/a', 'private'),
      rule('/a/cache', 'layered'),
      rule('/a/disk/tools', 'layered'),
      rule('/a/linked', 'layered', { source: '/data/linked' }),
    ];
    const { covering, showing } = scriptOf(rules, { mounts });
    expect(lines(showing).filter(([, , type]) => type === 'overlay')).toHaveLength(3);
    const lowers = lines(covering).filter(([, target]) => target?.endsWith('/lower'));
    expect(lowers.map(([source]) => source)).toEqual(['/a', '/a/disk/tools', '/data/linked']);
  });

  it('cover the stage with terminals in the end', () => {
    expect(targetsOf(scriptOf([rule('/a', 'private')]).showing).slice(-2)).toEqual(['/dev/pts', '/dev/ptmx']);
  });

  it('make the settings of the kernel read-only for root alone', () => {
    expect(targetsOf(scriptOf([], {}, 0).covering)).toContain('/proc/sys');
    expect(targetsOf(scriptOf([]).covering)).not.toContain('/proc/sys');
  });

  it('quote every character that a table could take for something else', () => {
    const { covering } = scriptOf([rule('/a b\n#\\\t,"é', 'private')]);
    expect(covering).toContain('/./a\\040b\\012\\043\\134\\011\\054\\042é ');
    expect(lines(covering).every((line) => line.length === 4)).toBe(true);
  });

  it.each(['/', '/proc', '/proc/sys', '/sys/fs', '/dev', '/dev/sda'])('are refused for %s', (target) => {
    expect(() => scriptOf([rule(target, 'read')])).toThrow(expect.objectContaining({ code: 'isolation_failed' }));
  });

  it('are refused for a file in the root, and without a folder for the stage', () => {
    const failure = expect.objectContaining({ code: 'isolation_failed' });
    expect(() => scriptOf([rule('/file', 'read', { kind: 'file' })])).toThrow(failure);
    expect(() => scriptOf([], { present: new Set() })).toThrow(failure);
  });
});
