import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createAcpAgent } from '../../../src/agent/acp/acp-agent.ts';
import { presets } from '../../../src/agent/acp/presets.ts';
import type { AcpOptions } from '../../../src/agent/acp/settings.ts';
import type { SessionRequest } from '../../../src/agent/agent.ts';
import { usualOptions } from '../../agent/acp/acp-scene.ts';
import { usualParts } from '../../agent/scripted-scene.ts';
import type { FakeModel } from '../../fake/fake-model.ts';
import type { Scenario } from '../../fake/openai/scenario.ts';
import type { AcpProgram } from '../acp-programs.ts';
import { CleanUp, type OpenSession, type Person } from '../real-scene.ts';

/** A real program with its own home, a workspace and a model with the answers of the test. */
export interface AcpScene {
  readonly model: FakeModel;
  readonly workspace: string;
  /** Next to the workspace, not in it. */
  readonly folder: string;
  /** Names the daemon in each process of the test. */
  readonly daemonId: string;
  /** Variables with which the program finds its home. */
  readonly env: Readonly<Record<string, string>>;
  /** A session in its own process; successive sessions share the home. */
  open(request?: Partial<SessionRequest>, options?: Partial<AcpOptions>): Promise<OpenSession>;
}

export interface SceneChoices {
  readonly scenario?: Scenario;
  readonly options?: Partial<AcpOptions>;
  /** The model's address instead of that of the fake. */
  readonly baseUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The answer of a person; by default no one answers. */
  readonly person?: Person;
}

/** Call it once per suite. */
export function useAcpScenes(program: AcpProgram): (choices?: SceneChoices) => Promise<AcpScene> {
  const clean = new CleanUp();
  return async (choices = {}) => {
    const { folder, workspace } = clean.makeFolder(false);
    const model = await program.startModel(choices.scenario);
    clean.add(() => model[Symbol.asyncDispose]());
    const home = path.join(folder, 'home');
    const temporary = path.join(folder, 'temporary');
    for (const each of [home, temporary]) mkdirSync(each);
    const login = program.login(home, choices.baseUrl ?? model.url);
    const env = { HOME: home, TMPDIR: temporary, ...login, ...choices.env };
    const daemonEnv = { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env };
    const parts = usualParts({ daemonEnv, allowEnv: Object.keys(env) });
    clean.expectNoneOf(parts.daemonId);

    const open: AcpScene['open'] = async (request = {}, options = {}) => {
      const { command, preset } = program;
      const usual = { ...usualOptions, name: preset, preset: presets[preset], command, turnTimeoutMs: 60_000 };
      const agent = createAcpAgent({ ...usual, approvals: 'auto', ...choices.options, ...options }, parts);
      return clean.open(agent, { workspace, ...request }, choices.person);
    };
    return { model, workspace, folder, daemonId: parts.daemonId, env, open };
  };
}
