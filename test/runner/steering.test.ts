import { describe, expect, it } from 'vitest';
import type { AgentSession } from '../../src/agent/agent.ts';
import { Steering } from '../../src/runner/steering.ts';

function session(changes: Partial<AgentSession> = {}): AgentSession {
  const never = (): never => {
    throw new Error('no turn here');
  };
  return { threadId: null, isResumed: false, pid: null, remembersTurns: true, runTurn: never, stop: never, ...changes };
}

const refused = { code: 'command_refused' };

describe('messages to a run', () => {
  it('are queued before the agent exists, and taken once, in order', async () => {
    const steering = new Steering();
    expect(await steering.steer('one')).toBe('queued');
    steering.join(session({ remembersTurns: false }));
    expect(await steering.steer('two')).toBe('queued');
    expect(steering.take()).toEqual(['one', 'two']);
    expect(steering.take()).toEqual([]);
  });

  it('are delivered during a turn, and queued between turns', async () => {
    const heard: string[] = [];
    let hears = true;
    const steering = new Steering();
    steering.join(session({ steer: async (text) => (hears ? heard.push(text) > 0 : false) }));
    steering.take();
    expect(await steering.steer('now')).toBe('delivered');
    hears = false;
    expect(await steering.steer('later')).toBe('queued');
    expect([heard, steering.take()]).toEqual([['now'], ['later']]);
  });

  it('are reported once, whether delivered or queued, and also from before the agent existed', async () => {
    const steering = new Steering();
    const said: string[] = [];
    await steering.steer('early');
    steering.join(session({ steer: async (text) => text === 'now' }), (text) => said.push(text));
    steering.take();
    await steering.steer('now');
    await steering.steer('later');
    await expect(steering.steer('  ')).rejects.toMatchObject(refused);
    expect(said).toEqual(['early', 'now', 'later']);
  });

  it('are possible while there is a prompt or a turn for them', async () => {
    const canHear = (changes: Partial<AgentSession>): boolean[] => {
      const steering = new Steering();
      steering.join(session(changes));
      const before = steering.canHear;
      steering.take();
      const meanwhile = steering.canHear;
      steering.close();
      return [before, meanwhile, steering.canHear];
    };
    expect(canHear({ remembersTurns: false })).toEqual([true, false, false]);
    expect(canHear({ remembersTurns: false, steer: async () => true })).toEqual([true, true, false]);
    expect(canHear({})).toEqual([true, true, false]);
  });

  it('count as heard once delivered or taken, not while queued or refused', async () => {
    const steering = new Steering();
    let hears = true;
    steering.join(session({ steer: async () => hears }));
    expect([steering.take(), steering.takeHeard()]).toEqual([[], false]);
    await steering.steer('now');
    expect([steering.takeHeard(), steering.takeHeard()]).toEqual([true, false]);
    hears = false;
    await steering.steer('later');
    expect(steering.takeHeard()).toBe(false);
    steering.take();
    expect(steering.takeHeard()).toBe(true);
    await expect(steering.steer('')).rejects.toMatchObject(refused);
    expect(steering.takeHeard()).toBe(false);
    steering.hear();
    expect(steering.takeHeard()).toBe(true);
  });

  it('are queued for an agent that refuses them in a turn but remembers turns', async () => {
    for (const steer of [() => Promise.reject(new Error('not now')), undefined]) {
      const steering = new Steering();
      steering.join(session(steer === undefined ? {} : { steer }));
      steering.take();
      expect(await steering.steer('words')).toBe('queued');
      expect(steering.closeIfNothingIsKept()).toBe(false);
      expect(steering.take()).toEqual(['words']);
    }
  });

  it.each([
    ['one that cannot hear in a turn', {}],
    ['one that refuses it', { steer: () => Promise.reject(new Error('not now')) }],
  ] as const)('are refused for an agent with one turn: %s', async (_what, changes) => {
    const steering = new Steering();
    steering.join(session({ remembersTurns: false, ...changes }));
    steering.take();
    await expect(steering.steer('words')).rejects.toMatchObject(refused);
  });

  it('are refused as soon as the run has no further prompt', async () => {
    const steering = new Steering();
    expect(steering.closeIfNothingIsKept()).toBe(true);
    await expect(steering.steer('late')).rejects.toMatchObject(refused);
  });

  // @conforms runs.12
  it('are refused, not lost, when the run ends during the delivery', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const steering = new Steering();
    steering.join(session({ steer: () => promise }));
    steering.take();
    const told = steering.steer('words');
    steering.close();
    resolve(false);
    await expect(told).rejects.toMatchObject(refused);
    expect(steering.take()).toEqual([]);
  });

  it('are refused when empty, too long, or too many', async () => {
    const steering = new Steering();
    for (const text of ['', ' \n', 'x'.repeat(16_385)])
      await expect(steering.steer(text)).rejects.toMatchObject(refused);
    for (let each = 0; each < 32; each += 1) await steering.steer('x'.repeat(16_384));
    await expect(steering.steer('one more')).rejects.toMatchObject(refused);
  });

  it('that were not delivered are returned at the end', async () => {
    const steering = new Steering();
    await steering.steer('words');
    expect(steering.close()).toEqual(['words']);
  });
});
