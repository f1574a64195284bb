import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsHere } from '../../src/cli/place-flags.ts';

const there = { workflow: 'a b/W.md', stateDir: '/s' };
const place = "--workflow 'a b/W.md' --state-dir /s";

describe('the commands in a text', () => {
  const here = commandsHere(there, { batonPath: '/opt/x/bin/baton', env: {} });

  it.each([
    ['To continue: baton issue retry BAT-1', `To continue: /opt/x/bin/baton issue retry BAT-1 ${place}`],
    ['Run `baton ask show BAT-1`.', `Run \`/opt/x/bin/baton ask show BAT-1 ${place}\`.`],
    ['baton resume lets it start', `/opt/x/bin/baton resume ${place} lets it start`],
    ["see baton explain 'it s'; then wait", `see /opt/x/bin/baton explain 'it s' ${place}; then wait`],
    [`baton takeover 'BAT 4'"'"'s'`, `/opt/x/bin/baton takeover 'BAT 4'"'"'s' ${place}`],
    ['baton issue move BAT-1 review.', `/opt/x/bin/baton issue move BAT-1 ${place} review.`],
    [
      'baton issue retry BAT-1, or baton status',
      `/opt/x/bin/baton issue retry BAT-1 ${place}, or /opt/x/bin/baton status ${place}`,
    ],
  ])('get their place: %s', (text, expected) => {
    expect(here(text)).toBe(expected);
    // A text that went through it once stays as it is.
    expect(here(expected)).toBe(expected);
  });

  it('that find their project by another argument get only the name of the program', () => {
    expect(here('then run `baton validate`.')).toBe("then run `/opt/x/bin/baton validate 'a b/W.md'`.");
    expect(here('To start one: baton start')).toBe("To start one: /opt/x/bin/baton start 'a b/W.md' --state-dir /s");
    expect(here('baton start W.md')).toBe('/opt/x/bin/baton start W.md');
    expect(here('baton salvage restore A --workflow W.md')).toBe('/opt/x/bin/baton salvage restore A --workflow W.md');
  });

  it.each(['Baton is running', 'the folder /x/baton issue list', 'my-baton status', 'a baton passes'])(
    'are not seen in other words: %s',
    (text) => expect(here(text)).toBe(text),
  );

  it('are named baton where that is this program', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'baton-name-'));
    try {
      const batonPath = path.join(folder, 'program');
      writeFileSync(batonPath, '');
      symlinkSync(batonPath, path.join(folder, 'baton'));
      const nameWith = (PATH: string) => commandsHere({}, { batonPath, env: { PATH } })('baton status');
      expect(nameWith(`/nowhere:${folder}`)).toBe('baton status');
      expect(nameWith('/nowhere')).toBe(`${batonPath} status`);
      // Another program of that name is not this one.
      rmSync(path.join(folder, 'baton'));
      writeFileSync(path.join(folder, 'baton'), '');
      expect(nameWith(folder)).toBe(`${batonPath} status`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
