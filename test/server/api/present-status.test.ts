import { describe, expect, it } from 'vitest';
import { status } from '../../../src/client/schema/status.ts';
import { presentStatus } from '../../../src/server/api/present/present-status.ts';
import { begun } from '../../orchestrator/scene.ts';

describe('the status of the daemon', () => {
  // @conforms tools.19
  it('is presented when an account has an invalid time, which becomes null', async () => {
    const { orchestrator } = await begun();
    const model = orchestrator.read();
    const window = { name: 'primary', usedPercent: 50, windowMinutes: 300 };
    const windows = [1e300, Number.NaN, 8.64e15 + 1, null, 0].map((resetsAt) => ({ ...window, resetsAt }));
    const parked = { until: 1e300, since: 1, why: 'quota' as const, reason: 'no quota' };
    const accounts = [{ backend: 'codex', name: 'main', windows, parked, parks: 1, waitsFor: null }];
    const told = status.parse(presentStatus({ ...model, accounts }, { api: null, waitingCommands: 0 }));
    expect(told.accounts).toMatchObject([{ name: 'main', unavailable_until: null, unavailable_because: 'quota' }]);
    expect(told.accounts[0]?.windows.map((each) => each.resets_at)).toEqual([
      ...[null, null, null, null, '1970-01-01T00:00:00.000Z'],
    ]);
  });
});
