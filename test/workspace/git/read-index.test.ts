import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { readIndex } from '../../../src/workspace/git/read/read-index.ts';
import { runs } from '../../property-runs.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { shell } from './examine-scene.ts';

function index(version: number, format: 'sha1' | 'sha256' = 'sha1', more = ':') {
  const folder = scratchFolder();
  shell(
    `git init -q --object-format=${format} .; mkdir -p dir/deep; ln -s dir link; echo x > run; chmod +x run
     for n in $(seq 300); do echo $n > dir/deep/file-$n; done; touch a aa aaa aaaa aaaaa aaaaaa aaaaaaa aaaaaaaa 'ä"b'
     git add -A; git update-index --skip-worktree a dir/deep/file-7; git update-index --index-version ${version}; ${more}`,
    folder,
  );
  const bytes = readFileSync(path.join(folder, '.git/index'));
  return { bytes, listed: shell('git ls-files -z --stage', folder) };
}

const stages = `id=$(git hash-object -w run); printf "0 ${'0'.repeat(40)}\\trun\\n100644 $id 1\\trun\\n100644 $id 3\\trun\\n" | git update-index --index-info`;

describe('an index read by hand', () => {
  it.each([
    [2, 'sha1', ':'],
    [3, 'sha1', ':'],
    [4, 'sha1', ':'],
    [2, 'sha1', stages],
    [4, 'sha1', stages],
    [2, 'sha256', ':'],
    [4, 'sha256', ':'],
  ] as const)('of version %i with %s matches git (%#)', (version, format, more) => {
    const { bytes, listed } = index(version, format, more);
    const entries = readIndex(bytes, format);
    const text = entries.map(({ mode, id, stage, path: name }) => {
      const shown = Buffer.from(name, 'latin1').toString('utf8');
      return `${mode.toString(8).padStart(6, '0')} ${id} ${stage}\t${shown}\0`;
    });
    expect(text.join('')).toBe(listed);
    expect(entries.filter(({ isSkipped }) => isSkipped).map((entry) => entry.path)).toEqual(['a', 'dir/deep/file-7']);
  });

  it('is read or refused after any change of its bytes', () => {
    for (const version of [2, 4]) {
      const { bytes } = index(version);
      const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
      fc.assert(
        fc.property(fc.array(change, { maxLength: 8 }), fc.nat(bytes.length), (changes, length) => {
          const copy = Buffer.from(bytes);
          for (const [at, byte] of changes) copy[at] = byte;
          for (const each of [copy, copy.subarray(0, length)]) {
            try {
              expect(readIndex(each, 'sha1').length).toBeLessThanOrEqual(bytes.length);
            } catch (error) {
              expect(error).toBeInstanceOf(BatonError);
            }
          }
        }),
        { numRuns: runs(300) },
      );
    }
  });

  it('cannot be a small file with endless names', () => {
    const entry = Buffer.alloc(40 + 20 + 2 + 1 + 200 + 1, 'a');
    entry.fill(0, 0, 63);
    entry[entry.length - 1] = 0;
    const header = Buffer.from('DIRC\0\0\0\x04\0\0\0\0', 'latin1');
    header.writeUInt32BE(10_000, 8);
    expect(() => readIndex(Buffer.concat([header, ...Array.from({ length: 10_000 }, () => entry)]), 'sha1')).toThrow(
      expect.objectContaining({ code: 'workspace_unavailable' }),
    );
  });
});
