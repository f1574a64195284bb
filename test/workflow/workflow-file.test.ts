import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { LogFields, Logger } from '../../src/core/logger.ts';
import type { WorkflowReading } from '../../src/core/workflow.ts';
import { WorkflowFile } from '../../src/workflow/workflow-file.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { givenContext } from './given.ts';

const content = (intervalMs: number | string, more = '') =>
  `---\ntracker: {kind: memory}\npolling: {interval_ms: ${intervalMs}}\n${more}\n---\nDo it.\n`;

let home: string;
let directory: string;
let path: string;
let lines: { level: string; message: string; fields: LogFields }[];
let open: WorkflowFile[];

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-reload-')));
  directory = join(home, 'repo');
  mkdirSync(directory);
  path = join(directory, 'WORKFLOW.md');
  lines = [];
  open = [];
  writeFileSync(path, content(1));
});

afterEach(async () => {
  for (const file of open) await file.stop();
  rmSync(home, { recursive: true, force: true });
});

const note =
  (level: string) =>
  (message: string, fields: LogFields = {}) =>
    void lines.push({ level, message, fields });
const logger: Logger = {
  debug: note('debug'),
  info: note('info'),
  warn: note('warn'),
  error: note('error'),
  child: () => logger,
};

async function started(clock: typeof systemClock | SimulatedClock = systemClock): Promise<WorkflowFile> {
  const file = await WorkflowFile.start({ path, context: givenContext(), clock, logger });
  open.push(file);
  return file;
}

const intervalIn = (reading: WorkflowReading) => reading.workflow.settings.polling.intervalMs;

/** Writes beside the file and renames over it, as git and most editors do. */
function replace(text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

describe('reading before each use', () => {
  // @conforms C56
  it('requires a valid file at the start', async () => {
    unlinkSync(path);
    await expect(started()).rejects.toMatchObject({ code: 'missing_workflow_file' });
    writeFileSync(path, content(0));
    await expect(started()).rejects.toMatchObject({ code: 'invalid_workflow_config' });
    writeFileSync(path, content(1).replace('Do it.', 'Do {{ issue.titel }}.'));
    await expect(started()).rejects.toMatchObject({ code: 'template_render_error' });
  });

  it('keeps the last good reading when the template of an edit cannot render', async () => {
    const file = await started(new SimulatedClock());
    writeFileSync(path, content(2).replace('Do it.', 'Do {{ issue.titel }}.'));
    expect(file.read().problem?.code).toBe('template_render_error');
    expect(intervalIn(file.read())).toBe(1);
  });

  // @conforms C55
  it('sees a change at the next use, without any file system event', async () => {
    const file = await started(new SimulatedClock());
    const first = file.read();
    expect(file.read().workflow).toBe(first.workflow);
    // The same size and, within the resolution of the file system, the same time.
    writeFileSync(path, content(2));
    expect(intervalIn(file.read())).toBe(2);
    expect(file.read().workflow.revision).not.toBe(first.workflow.revision);
  });

  // @conforms C52
  it('keeps the last good reading after an invalid edit until it is fixed', async () => {
    const file = await started(new SimulatedClock());
    const good = file.read().workflow;
    writeFileSync(path, content('nope'));
    for (let look = 0; look < 3; look += 1) {
      const { workflow, problem } = file.read();
      expect(workflow).toBe(good);
      expect(problem?.details.problems).toMatchObject([{ key: 'polling.interval_ms' }]);
    }
    writeFileSync(path, content(3));
    expect(file.read()).toMatchObject({ problem: null });
    expect(intervalIn(file.read())).toBe(3);
  });

  // @conforms C53
  it('keeps the last good reading when only the meaning of an edit is wrong', async () => {
    const file = await started(new SimulatedClock());
    writeFileSync(path, '---\ntracker: {kind: linear, api_key: token}\n---\n');
    const { workflow, problem } = file.read();
    expect(problem?.code).toBe('missing_linear_project_slug');
    expect(workflow.settings.tracker.kind).toBe('memory');
  });

  // @conforms limits.3
  it('applies an edited limit at the next use, a higher one after a person confirms it, and a bad edit never removes it', async () => {
    const file = await started();
    const inForce = () => {
      const { limits, agent, store } = file.read().workflow.settings;
      return [limits.tokensPerDay, limits.usdPerDay, agent.maxRetries, store.leaseMs];
    };
    replace(
      content(1, 'limits: {tokens_per_day: 5, usd_per_day: 0.5}\nagent: {max_retries: 1}\nstore: {lease_ms: 3000}'),
    );
    expect(inForce()).toEqual([5, 0.5, 1, 3000]);
    replace(content(1, 'limits: {tokens_per_day: -1, usd_per_day: none}'));
    expect(inForce()).toEqual([5, 0.5, 1, 3000]);
    replace(content(1));
    expect(inForce()).toEqual([5, 0.5, 1, 30_000]);
    file.takeWaiting(null);
    expect(inForce()).toEqual([100_000_000, 100, 3, 30_000]);
  });

  // @conforms C58
  it('still returns the last good reading to a reader that starts later', async () => {
    const file = await started(new SimulatedClock());
    writeFileSync(path, '---\n- no\n');
    file.read();
    expect(file.read().workflow.settings.tracker.kind).toBe('memory');
  });

  // @conforms spec-6.2
  it('survives renames, deletion, re-creation and the replacement of its directory', async () => {
    const file = await started(new SimulatedClock());
    replace(content(2));
    expect(intervalIn(file.read())).toBe(2);
    unlinkSync(path);
    expect(file.read().problem?.code).toBe('missing_workflow_file');
    expect(intervalIn(file.read())).toBe(2);
    writeFileSync(path, content(3));
    expect(file.read().problem).toBeNull();
    expect(intervalIn(file.read())).toBe(3);

    renameSync(directory, `${directory}.old`);
    expect(file.read().problem?.code).toBe('missing_workflow_file');
    mkdirSync(directory);
    writeFileSync(path, content(4));
    expect(intervalIn(file.read())).toBe(4);
    unlinkSync(path);
    symlinkSync(join(`${directory}.old`, 'WORKFLOW.md'), path);
    expect(intervalIn(file.read())).toBe(3);
  });

  // @conforms workflow.4
  it('reports a problem once when it appears and once when it is fixed', async () => {
    const file = await started(new SimulatedClock());
    const told: WorkflowReading[] = [];
    file.onChange((reading) => void told.push(reading));
    const good = file.read().workflow;
    writeFileSync(path, content('nope'));
    for (let look = 0; look < 5; look += 1) file.read();
    writeFileSync(path, content(1));
    for (let look = 0; look < 5; look += 1) file.read();
    expect(told.map((reading) => reading.problem?.code ?? null)).toEqual(['invalid_workflow_config', null]);
    expect(told[1]?.workflow).toBe(good);
    expect(lines.map((line) => line.level)).toEqual(['error', 'info']);
    expect(lines[0]?.fields).toMatchObject({ path, code: 'invalid_workflow_config' });
  });

  it('logs a warning once, not with every edit', async () => {
    writeFileSync(path, content(1, 'observability: {render_interval_ms: 1}'));
    const file = await started(new SimulatedClock());
    writeFileSync(path, content(2, 'observability: {render_interval_ms: 1}\nzzz: 1'));
    expect(file.read().workflow.warnings.map((warning) => warning.key)).toEqual([
      'observability.render_interval_ms',
      'zzz',
    ]);
    const warned = lines.filter((line) => line.level === 'warn').map((line) => line.fields.key);
    expect(warned).toEqual(['observability.render_interval_ms', 'zzz']);
  });

  it('survives a failing listener, and calls no listener after it unsubscribed', async () => {
    const file = await started(new SimulatedClock());
    const heard = vi.fn();
    const gone = vi.fn();
    file.onChange(() => {
      throw new Error('listener');
    });
    file.onChange(heard);
    file.onChange(gone)();
    writeFileSync(path, content(2));
    expect(intervalIn(file.read())).toBe(2);
    expect(heard).toHaveBeenCalledOnce();
    expect(gone).not.toHaveBeenCalled();
    expect(lines.some((line) => line.level === 'error' && line.fields.reason === 'listener')).toBe(true);
  });
});

describe('the watcher', () => {
  it('reports edits without a read: write, rename, deletion, re-creation, invalid and fixed content', async () => {
    const file = await started();
    let last: string | number | null = null;
    file.onChange((reading) => {
      last = reading.problem?.code ?? intervalIn(reading);
    });
    const expectSoon = (wanted: string | number) =>
      vi.waitUntil(() => last === wanted, { timeout: 20_000, interval: 5 });

    writeFileSync(path, content(2));
    await expectSoon(2);
    replace(content(3));
    await expectSoon(3);
    replace(content(4));
    await expectSoon(4);
    unlinkSync(path);
    await expectSoon('missing_workflow_file');
    writeFileSync(path, content(5));
    await expectSoon(5);
    writeFileSync(path, content('nope'));
    await expectSoon('invalid_workflow_config');
    writeFileSync(path, content(6));
    await expectSoon(6);
  });

  it('stops with the file', async () => {
    const heard = vi.fn();
    {
      await using file = await WorkflowFile.start({ path, context: givenContext(), clock: systemClock, logger });
      file.onChange(heard);
      open.push(file);
    }
    writeFileSync(path, content(2));
    expect(intervalIn(open[0]?.read() ?? expect.fail())).toBe(2);
    expect(heard).not.toHaveBeenCalled();
    await open[0]?.stop();
  });
});
