import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { commit, git, scratchCheckouts, scratchRepository } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

/** Settings of the person's repository by which git would run a program, each for the path of any repository. */
const attacks: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  ssh: [
    ['core.sshCommand', 'EVIL'],
    ['url.ssh://host/.insteadOf', '/'],
  ],
  'a git proxy': [
    ['core.gitProxy', 'EVIL'],
    ['url.git://host/.insteadOf', '/'],
  ],
  'the ext transport': [
    ['protocol.ext.allow', 'always'],
    ['url.ext::EVIL .insteadOf', '/'],
  ],
  'a partial clone': [
    ['extensions.partialClone', 'evil'],
    ['remote.evil.promisor', 'true'],
    ['remote.evil.url', 'ssh://host/x'],
    ['core.sshCommand', 'EVIL'],
  ],
};

for (const [name, settings] of Object.entries(attacks)) {
  it(`publishing runs no program that the configuration of the repository names: ${name}`, async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace } = scratchCheckouts(folder, source, {});
    const place = workspace('T-1');
    await checkouts.make({ workspace: place, branch: 'baton/t-1' });
    const evil = path.join(folder, 'evil.sh');
    writeFileSync(evil, `#!/bin/sh\ntouch '${folder}/was-run'\nexit 1\n`);
    chmodSync(evil, 0o755);
    git(source, 'config', 'core.repositoryFormatVersion', '1');
    for (const [key, value] of settings) git(source, 'config', key.replace('EVIL', evil), value.replace('EVIL', evil));
    const made = commit(place, { 'a.txt': '1\n' });
    const published = await checkouts.publish(place);
    expect(existsSync(path.join(folder, 'was-run'))).toBe(false);
    expect(published?.commit).toBe(made);
  });
}
