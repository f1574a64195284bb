// @module-tag full
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { shell } from '../../fake/openai/scenario.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { readWorkspace, useCodexScenes } from './codex-scene.ts';

await describeWithCodex('turns of a real session', (codex) => {
  const makeScene = useCodexScenes(codex);

  // @conforms real.1
  it('completes a plain turn with the words of the model, its usage and its events', async () => {
    const step = { message: 'all is well', usage: { input: 130, cached: 30, output: 21, reasoning: 11 } };
    const scene = await makeScene({ scenario: { otherwise: [step] } });
    const { session, events, complete, names } = await scene.open();
    expect(await complete('How are you?')).toBe('all is well');
    expect(session).toMatchObject({ isResumed: false, remembersTurns: true, threadId: expect.any(String) });
    expect(names()[0]).toBe('session_started');
    expect(names()).toContain('turn_started');
    expect(names().at(-1)).toBe('turn_completed');
    expect(events.findLast(({ usage }) => usage !== undefined)?.usage).toMatchObject({
      inputTokens: 130,
      cachedInputTokens: 30,
      outputTokens: 21,
      reasoningTokens: 11,
      totalTokens: 151,
      model: 'fake-model',
    });
    expect(scene.model.requests.map(({ conversation }) => conversation.said)).toEqual(['How are you?']);
  });

  // @conforms real.2
  it('remembers the earlier turns of the session, and counts tokens of all of them', async () => {
    const scene = await makeScene({ scenario: { otherwise: [{ message: ({ said }) => `heard ${said}` }] } });
    const { events, complete } = await scene.open();
    for (const prompt of ['first thing', 'second thing', 'third thing']) {
      expect(await complete(prompt)).toBe(`heard ${prompt}`);
    }
    const { memory } = scene.model.requests[2]?.conversation ?? { memory: '' };
    expect(memory).toMatch(/first thing[\s\S]*heard first thing[\s\S]*heard second thing[\s\S]*third thing/);
    expect(events.findLast(({ usage }) => usage !== undefined)?.usage).toMatchObject({ totalTokens: 360 });
  });

  // @conforms real.3
  it('runs a command in the workspace with the variables of the run, and the model sees its output', async () => {
    const cmd = 'pwd; echo "for $BATON_ISSUE_IDENTIFIER"; printf made > by-command.txt';
    const scene = await makeScene({
      scenario: { otherwise: [{ calls: [shell(cmd)] }, { message: ({ lastOutput }) => lastOutput }] },
    });
    const { complete, events } = await scene.open();
    const said = await complete('Run it.');
    expect(said).toContain(scene.workspace);
    expect(said).toContain('for BAT-1');
    expect(readWorkspace(scene, 'by-command.txt')).toBe('made');
    expect(events.some(({ summary }) => summary.includes('by-command.txt'))).toBe(true);
  });

  // @conforms real.4
  it('changes a file by a patch', async () => {
    const input = '*** Begin Patch\n*** Add File: patched.txt\n+made by a patch\n*** End Patch\n';
    const scene = await makeScene({
      home: { model: 'gpt-5.5' },
      scenario: { otherwise: [{ calls: [{ custom: 'apply_patch', input }] }, { message: 'patched' }] },
    });
    const { complete, events } = await scene.open();
    expect(await complete('Patch it.')).toBe('patched');
    expect(readWorkspace(scene, 'patched.txt')).toBe('made by a patch\n');
    expect(events.some(({ summary }) => summary.includes('patched.txt'))).toBe(true);
  });

  // @conforms real.5
  it('accepts a message of five megabytes, passes on and shows a part of it, and continues', async () => {
    const size = 5 * 1024 * 1024;
    const rules = [{ when: /Talk/, steps: [{ pieces: Array.from({ length: 5 }, () => 'x'.repeat(size / 5)) }] }];
    const scene = await makeScene({ scenario: { rules } });
    const { complete, events } = await scene.open();
    expect(await complete('Talk.')).toMatch(/^x{1000,}$/);
    expect(Math.max(...events.map(({ summary }) => summary.length))).toBeLessThanOrEqual(200);
    expect(JSON.stringify(events).length).toBeLessThan(3 * size);
    expect(await complete('Go on.')).toBe('ok');
    expect(scene.model.requests[1]?.conversation.memory.length).toBeGreaterThan(size);
  });

  // @conforms real.6
  it('passes a message of a person to the turn in progress, and reports when there is none', async () => {
    const scene = await makeScene({
      scenario: {
        rules: [{ when: /tests too/, steps: [{ message: 'with tests then' }] }],
        otherwise: [{ calls: [shell('while [ ! -e go-on ]; do sleep 0.05; done')] }, { message: 'without tests' }],
      },
    });
    const { session, names } = await scene.open();
    expect(await session.steer?.('too early')).toBe(false);
    const turn = session.runTurn('Mend it.');
    await expect.poll(() => scene.model.requests.length).toBe(1);
    await expect.poll(() => names().filter((name) => name === 'notification').length).not.toBe(0);
    expect(await session.steer?.('Write tests too.')).toBe(true);
    writeFileSync(path.join(scene.workspace, 'go-on'), '');
    expect(await turn).toEqual({ status: 'completed', message: 'with tests then' });
  });
});
