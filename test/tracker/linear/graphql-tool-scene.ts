import type { ToolAnswer } from '../../../src/core/tool-set.ts';
import type { Ask, NativeTool, Tracker } from '../../../src/tracker/tracker.ts';
import { type LinearScene, linearScene } from './linear-scene.ts';

export interface ToolScene extends LinearScene {
  readonly tool: NativeTool;
  /** Calls the tool and reads its answer, which is always JSON. */
  ask(input: unknown, ask?: Ask): Promise<{ readonly success: boolean; readonly said: Said }>;
}

export interface Said {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly unknown[];
  readonly error?: Readonly<Record<string, unknown>> & {
    readonly message: string;
    readonly refused?: readonly string[];
    readonly allowed?: Readonly<Record<string, readonly string[]>>;
  };
}

/** `linear_graphql` on a fake Linear, with a second project and a second team next to the configured ones. */
export function toolScene(
  provider: Readonly<Record<string, unknown>> = {},
  options: Parameters<typeof linearScene>[1] = {},
): ToolScene {
  const scene = linearScene({ tool_scope: 'project', ...provider }, options);
  scene.linear.addProject({ slugId: 'other' });
  scene.linear.addTeam({ key: 'OPS' });
  for (const project of scene.linear.records.projects.values()) project.teamKeys = ['BAT'];
  const tool = toolOf(scene.tracker);
  return {
    ...scene,
    tool,
    ask: async (input, ask = {}) => {
      const { success, output }: ToolAnswer = await tool.call(input, ask);
      return { success, said: JSON.parse(output) };
    },
  };
}

export function toolOf({ nativeTools = [] }: Tracker): NativeTool {
  const [tool] = nativeTools;
  if (tool === undefined || nativeTools.length !== 1) throw new Error('Linear has one tool of its own');
  return tool;
}
