import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { baton, leaveNoPlaces, Place, workflowText } from './run-baton.ts';

leaveNoPlaces();

describe.concurrent('baton doctor', () => {
  it('tells of the machine, one line a thing', async () => {
    using place = new Place();
    const { code, stdout, stderr } = await baton(place, 'doctor');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of ['node', 'git', 'process custody', 'temporary files'])
      expect(stdout).toMatch(new RegExp(`^ok {3}${name} `, 'm'));
    expect(place.pids()).toEqual([]);
  });

  it('tells of a workflow file too, as JSON', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', workflowText('exec sh'));
    const { code, stdout, stderr } = await baton(place, 'doctor', 'WORKFLOW.md', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { healthy, findings } = JSON.parse(stdout);
    expect(healthy).toBe(true);
    expect(findings.map(({ name }: { name: string }) => name)).toEqual([
      ...['node', 'git', 'process custody', 'temporary files'],
      ...['workflow file', 'workspace root', 'state folder', 'memory', 'agent program'],
    ]);
    for (const finding of findings) expect(finding).toMatchObject({ ok: true, mend: null, detail: expect.any(String) });
  });

  it('fails for an agent program that is not there, and says what mends it', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', workflowText('KEY=1 no-such-agent --flag'));
    const { code, stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL agent program .*"no-such-agent" is not on the PATH\n +mend it with: +install no-such-agent/m,
    );
    const json = await baton(place, 'doctor', 'WORKFLOW.md', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      healthy: false,
      findings: expect.arrayContaining([
        { name: 'agent program', ok: false, detail: expect.any(String), mend: expect.any(String) },
      ]),
    });
  });

  it.each(['cd . && sh', '"sh" -c true', '$HOME/bin/agent', 'if true; then sh; fi'])(
    'does not call the shell text %j missing',
    async (command) => {
      using place = new Place();
      place.write('WORKFLOW.md', workflowText(command));
      const { code, stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
      expect(stdout).toMatch(/^ok {3}agent program /m);
      expect(code).toBe(0);
    },
  );

  it('fails for a bad or missing workflow file and names the command that tells more', async () => {
    using place = new Place();
    const { code, stdout } = await baton(place, 'doctor', 'nowhere.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^FAIL workflow file .*missing_workflow_file\n +mend it with: +baton validate '.*nowhere\.md'$/m,
    );
  });

  it('fails for a machine without git, and says what mends it', async () => {
    using place = new Place();
    place.write('bin/keep', '');
    for (const program of ['sh', 'node'])
      symlinkSync(program === 'sh' ? '/bin/sh' : process.execPath, path.join(place.folder, 'bin', program));
    using poor = new Place({ PATH: path.join(place.folder, 'bin') });
    const { code, stdout } = await baton(poor, 'doctor');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL git .*\n +mend it with: +install git/m);
    expect(stdout).toMatch(/^ok {3}process custody +marker_sweep/m);
  });

  it('fails for a workspace root that cannot be written', async () => {
    using place = new Place();
    place.write('workspaces', 'a file where a folder should be');
    place.write('WORKFLOW.md', workflowText('sh'));
    const { code, stdout } = await baton(place, 'doctor', 'WORKFLOW.md');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL workspace root .*\n +mend it with: /m);
  });
});
