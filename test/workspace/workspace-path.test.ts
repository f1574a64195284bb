import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { canonicalPath } from '../../src/workspace/canonical-path.ts';
import { workspaceKey, workspacePath } from '../../src/workspace/workspace-path.ts';
import { anyCharacter } from '../any-character.ts';
import { runs } from '../property-runs.ts';
import { scratchFolder } from './scratch-folder.ts';

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof BatonError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('the name of a workspace', () => {
  it.each([
    ['MT/Det', 'MT_Det--b45ad8f201f2d40b'],
    ['team/a-1', 'team_a-1--7c03d5a56ca4204b'],
    ['S 1', 'S_1--7eec045c22745ca1'],
    ['a/b', 'a_b--c14cddc033f64b9d'],
    ['team_a-1', 'team_a-1'],
    ['GH-42', 'GH-42'],
    // Byte by byte: the two bytes of é are two underscores.
    ['héllo-1', 'h__llo-1--a2060baf8a28ce6a'],
  ])('of %s is %s (reference 1.6)', (identifier, key) => {
    expect(workspaceKey(identifier)).toBe(key);
  });

  it.each(['.git', '.gitignore', '...'])('of %s does not begin with a dot', (identifier) => {
    expect(workspaceKey(identifier)).toMatch(/^_[a-z.]+--[0-9a-f]{16}$/);
  });

  it('cannot be taken by an identifier that equals the key of another issue', () => {
    const borrowed = workspaceKey('team/a-1');
    expect(workspaceKey(borrowed)).not.toBe(borrowed);
    expect(workspaceKey(workspaceKey(borrowed))).not.toBe(workspaceKey(borrowed));
  });
});

describe('the name of a workspace with a long identifier', () => {
  const ending = /^--[0-9a-f]{16}$/;

  it('is the identifier itself up to 200 bytes, as the specification says', () => {
    expect(workspaceKey('A'.repeat(200))).toBe('A'.repeat(200));
    expect(workspaceKey(`${'A'.repeat(180)}/x`)).toMatch(/^A{180}_x--[0-9a-f]{16}$/);
  });

  it.each(['A'.repeat(201), 'A'.repeat(245), 'A'.repeat(5_000), `${'A'.repeat(181)}/x`, 'é'.repeat(100)])(
    'is cut to 200 bytes with a hash of the whole identifier (%#)',
    (identifier) => {
      const key = workspaceKey(identifier);
      expect(key).toHaveLength(200);
      expect(key.slice(182)).toMatch(ending);
      expect(key.slice(0, 182)).toBe(identifier.replaceAll('é', '__').replaceAll('/', '_').slice(0, 182));
      expect(workspaceKey(`${identifier}x`)).not.toBe(key);
      expect(workspaceKey(key)).not.toBe(key);
    },
  );
});

describe('the path of a workspace', () => {
  // @conforms X9
  it.each([
    ['', 'workspace_equals_root'],
    ['.', 'workspace_equals_root'],
    ['..', 'workspace_outside_root'],
    // Neither has distinct bytes, nor can be passed to a program.
    ['T-\ud800', 'path_canonicalize_failed'],
    ['T-\0', 'path_canonicalize_failed'],
  ])('rejects the identifier %j with %s and touches nothing', (identifier, code) => {
    const folder = scratchFolder();
    const root = path.join(folder, 'workspaces');
    expect(codeOf(() => workspacePath(root, identifier))).toBe(code);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['../../etc', '/etc/passwd', 'a/../../b', '..\\..', '...', '-rf', '~', '$(id)', '\n'])(
    'keeps the hostile identifier %j a direct child of the root',
    (identifier) => {
      const root = scratchFolder();
      const found = workspacePath(root, identifier);
      expect(path.dirname(found)).toBe(root);
      expect(path.normalize(found)).toBe(found);
    },
  );

  it('rejects every identifier or gives it its own direct child of the root', () => {
    const root = scratchFolder();
    // Both kinds that could collide: any text, and safe text with and without the ending of a hash.
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
    const identifier = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 40 }),
      fc.string({ unit: fc.constantFrom('a', 'A', '_', '/', '.', '-', ' ', 'é', '\ud800', '\udc00', '\0') }),
      fc.string({ unit: fc.constantFrom('a', '/', '.'), maxLength: 3 }).map((text) => workspaceKey(text)),
      fc.constantFrom('a/b', 'a.b').map((text) => `a_b--${hash(text)}`),
    );
    const pathOf = (text: string): string | null => {
      try {
        return workspacePath(root, text);
      } catch (error) {
        if (error instanceof BatonError) return null;
        throw error;
      }
    };
    fc.assert(
      fc.property(fc.uniqueArray(identifier, { minLength: 2, maxLength: 6 }), (identifiers) => {
        const paths = identifiers.map(pathOf).filter((found) => found !== null);
        expect(paths.map((found) => path.dirname(found))).toEqual(paths.map(() => root));
        expect(new Set(paths).size).toBe(paths.length);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('rejects a symbolic link in the place of the directory, wherever it leads', () => {
    const folder = scratchFolder();
    const root = path.join(folder, 'root');
    mkdirSync(path.join(folder, 'outside'));
    mkdirSync(path.join(root, 'T-2'), { recursive: true });
    symlinkSync(path.join(folder, 'outside'), path.join(root, 'T-1'));
    symlinkSync('T-2', path.join(root, 'T-3'));
    symlinkSync(path.join(folder, 'nowhere'), path.join(root, 'T-4'));
    for (const identifier of ['T-1', 'T-3', 'T-4'])
      expect(codeOf(() => workspacePath(root, identifier))).toBe('workspace_symlink_escape');
    expect(existsSync(path.join(folder, 'nowhere'))).toBe(false);
  });

  // @conforms W7
  it('is the real path below a root that is a symbolic link, also before the root exists', () => {
    const folder = scratchFolder();
    mkdirSync(path.join(folder, 'real'));
    symlinkSync('real', path.join(folder, 'link'));
    symlinkSync(path.join(folder, 'later'), path.join(folder, 'link-to-nothing'));
    expect(workspacePath(path.join(folder, 'link'), 'T-1')).toBe(path.join(folder, 'real', 'T-1'));
    expect(workspacePath(path.join(folder, 'link-to-nothing'), 'T-1')).toBe(path.join(folder, 'later', 'T-1'));
  });

  it('rejects a loop of symbolic links with an error that names it, and does not hang', () => {
    const folder = scratchFolder();
    symlinkSync('two', path.join(folder, 'one'));
    symlinkSync('one', path.join(folder, 'two'));
    symlinkSync('T-1', path.join(folder, 'T-1'));
    expect(codeOf(() => workspacePath(path.join(folder, 'one'), 'T-1'))).toBe('path_canonicalize_failed');
    expect(codeOf(() => workspacePath(folder, 'T-1'))).toBe('path_canonicalize_failed');
  });

  it('rejects a path that is too long for the file system', () => {
    const root = path.join(scratchFolder(), 'x'.repeat(300));
    expect(codeOf(() => workspacePath(root, 'T-1'))).toBe('path_canonicalize_failed');
  });

  it('rejects a root that is a file with an error that names it', () => {
    const folder = scratchFolder();
    writeFileSync(path.join(folder, 'file'), '');
    expect(codeOf(() => workspacePath(path.join(folder, 'file'), 'T-1'))).toBe('path_canonicalize_failed');
  });
});

describe('a canonical path', () => {
  it('is the path that the kernel finds, also where a link goes up from another link', () => {
    const folder = scratchFolder();
    mkdirSync(path.join(folder, 'far', 'deep'), { recursive: true });
    mkdirSync(path.join(folder, 'x'));
    mkdirSync(path.join(folder, 'far', 'x'));
    symlinkSync(path.join('far', 'deep'), path.join(folder, 'deep'));
    // For the kernel `deep/..` is `far`, because `deep` leads there; as text it would be the folder itself.
    symlinkSync('deep/../../far/x', path.join(folder, 'up'));
    symlinkSync('deep/../x', path.join(folder, 'over'));
    symlinkSync('./far//deep/./..', path.join(folder, 'odd'));
    symlinkSync('../../../../../../../../../../../..', path.join(folder, 'top'));
    for (const name of ['deep', 'up', 'over', 'odd', 'top', 'x'])
      expect(canonicalPath(path.join(folder, name))).toBe(realpathSync.native(path.join(folder, name)));
    expect(canonicalPath(path.join(folder, 'over'))).toBe(path.join(folder, 'far', 'x'));
  });

  it('keeps missing segments unchanged', () => {
    const folder = scratchFolder();
    expect(canonicalPath(path.join(folder, 'a', 'b', 'c'))).toBe(path.join(folder, 'a', 'b', 'c'));
  });
});
