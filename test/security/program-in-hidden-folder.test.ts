// @module-tag full
// @module-tag one-way
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { batonHere, daemonHere } from '../cli/baton-here.ts';
import { addIssue, boardWorkflow, liveTest, runsOf, soon } from '../cli/live-daemon.ts';
import { leaveNoPlaces, Place } from '../cli/run-baton.ts';
import { describeIsolated } from './machine.ts';

leaveNoPlaces();

const key = 'PRIVATE KEY';

/** A command that names a file in a hidden folder, and the file as the error has it. */
const commands: Readonly<Record<string, { command: string; file: string; setting: string }>> = {
  'a place of keys': { command: 'sh ~/.ssh/agent.sh', file: 'home/.ssh/agent.sh', setting: 'agent.isolation_read' },
  'a folder of keys itself': { command: 'sh -c "cat $0/*" ~/.ssh', file: 'home/.ssh', setting: 'agent.isolation_read' },
  'a login of a cloud service': {
    command: 'cat "$PLACE/home/.aws/credentials"',
    file: 'home/.aws/credentials',
    setting: 'agent.isolation_read',
  },
  'a login next to a package cache': {
    command: 'cat ~/.cargo/credentials.toml',
    file: 'home/.cargo/credentials.toml',
    setting: 'agent.isolation_read',
  },
  'a keyring, through a link': { command: '~/bin/unlock', file: 'home/bin/unlock', setting: 'agent.isolation_read' },
  'a place of keys on the PATH': {
    command: 'in-keys',
    file: 'home/.ssh/bin/in-keys',
    setting: 'agent.isolation_read',
  },
  'the state folder': {
    command: 'cat "$PLACE/state/baton/tokens.json"',
    file: 'state/baton/tokens.json',
    setting: 'agent.command',
  },
};

function hiddenPrograms(): Place {
  const place = new Place();
  for (const file of ['home/.ssh/agent.sh', 'home/.ssh/bin/in-keys', 'home/.local/share/keyrings/unlock'])
    chmodSync(place.write(file, `#!/bin/sh\necho '${key}'\n`), 0o755);
  for (const file of [
    'home/.ssh/id',
    'home/.aws/credentials',
    'home/.cargo/credentials.toml',
    'state/baton/tokens.json',
  ])
    place.write(file, key);
  mkdirSync(path.join(place.home, 'bin'));
  symlinkSync('../.local/share/keyrings/unlock', path.join(place.home, 'bin/unlock'));
  Object.assign(place.env, { PATH: `${place.env.PATH}:${place.home}/.ssh/bin` });
  return place;
}

function workflow(place: Place, command: string, more = ''): void {
  const text = JSON.stringify(command.replaceAll('$PLACE', place.folder));
  place.write(
    'WORKFLOW.md',
    boardWorkflow().replace(/command: "[^"]*", isolation_write: \[\.\]/, `command: ${text}${more}`),
  );
}

describeIsolated('a command that names a file in a hidden folder', liveTest, () => {
  it.each(Object.entries(commands))('fails instead of showing it: %s', async (_, { command, file, setting }) => {
    using place = hiddenPrograms();
    workflow(place, command);
    const expected = { path: path.join(place.folder, file), setting, named_by: 'agent.command' };
    const doctor = JSON.parse((await batonHere(place, 'doctor', 'WORKFLOW.md', '--json')).stdout);
    expect(doctor.findings.at(-1)).toMatchObject({
      check: 'isolation',
      code: 'isolation_hides_path',
      details: expected,
    });

    const daemon = await daemonHere(place);
    await addIssue(place, 'anything');
    await soon(async () => expect((await runsOf(place))[0]?.ended_at).toEqual(expect.any(String)));
    expect(await runsOf(place)).toMatchObject([{ error_code: 'isolation_hides_path' }]);
    expect(JSON.stringify(await runsOf(place))).not.toContain(key);
    await daemon.stop();
  });

  it('works once a setting shows the file by name, and shows nothing else of the folder', async () => {
    using place = hiddenPrograms();
    workflow(place, 'sh ~/.ssh/agent.sh; cat "$HOME"/.ssh/id; true', ', isolation_read: [~/.ssh/agent.sh]');
    expect((await batonHere(place, 'doctor', 'WORKFLOW.md')).code).toBe(0);
    const daemon = await daemonHere(place);
    await addIssue(place, 'anything');
    await soon(async () => expect((await runsOf(place))[0]?.ended_at).toEqual(expect.any(String)));
    expect((await runsOf(place))[0]).toMatchObject({ outcome: 'succeeded', last_message: key });
    await daemon.stop();
  });
});
