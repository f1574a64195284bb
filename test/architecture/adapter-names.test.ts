import { describe, expect, it } from 'vitest';
import { readSource } from '../../scripts/shape.ts';
import { agentBackends } from '../../src/agent/backends.ts';
import { trackerAdapters } from '../../src/tracker/adapters.ts';

/** Every name that a workflow file may write, with the folder of its adapter. */
const folders = new Map([
  ...trackerAdapters.map(({ kind }) => [kind, `tracker/${kind}/`] as const),
  ...agentBackends.map(({ name }) => [name, `agent/${name}/`] as const),
]);

/** The same word for something else: these lines name no adapter. */
const otherMeanings: readonly { readonly file: string; readonly name: string; readonly meaning: string }[] = [
  { file: 'cli/issue/register.ts', name: 'board', meaning: 'the command `baton board`' },
  { file: 'core/run/governing-files.ts', name: 'codex', meaning: 'a folder that the agent reads in a repository' },
  { file: 'core/run/governing-files.ts', name: 'claude', meaning: 'a folder that the agent reads in a repository' },
  { file: 'agent/command/known-programs.ts', name: 'claude', meaning: 'a program that a command may name' },
  { file: 'cli/doctor/check-workflow.ts', name: 'memory', meaning: 'a check of the free memory' },
  { file: 'core/settings.ts', name: 'command', meaning: 'a notification that runs a command' },
  { file: 'core/command/question.ts', name: 'command', meaning: 'an agent asks to run a command' },
  { file: 'core/run/late-approval.ts', name: 'command', meaning: 'an agent asks to run a command' },
  { file: 'client/schema/question.ts', name: 'command', meaning: 'an agent asks to run a command' },
  { file: 'store/tables/words/questions.ts', name: 'command', meaning: 'an agent asks to run a command' },
  { file: 'store/tables/pulls/checks.ts', name: 'command', meaning: 'the command of a check' },
  { file: 'agent/codex/requests/approval.ts', name: 'command', meaning: 'an agent asks to run a command' },
  { file: 'agent/acp/presets.ts', name: 'codex', meaning: 'a program that opens a conversation by hand' },
  { file: 'agent/acp/presets.ts', name: 'claude', meaning: 'a program that opens a conversation by hand' },
  { file: 'agent/acp/requests/permission.ts', name: 'command', meaning: 'an agent asks to run a command' },
  { file: 'agent/claude/requests/permission.ts', name: 'command', meaning: 'an agent asks to run a command' },
  { file: 'agent/codex/turn/event-summary.ts', name: 'command', meaning: 'the words for a command without text' },
  ...[
    'core/settings/setting.ts',
    'telemetry/notify/',
    'workflow/resolve/resolve-notify.ts',
    'workflow/table/describe-settings.ts',
    'workflow/table/setting-types.ts',
  ].map((file) => ({ file, name: 'command', meaning: 'a notification that runs a command' })),
];

interface Found {
  readonly file: string;
  readonly name: string;
  readonly line: string;
}

/** The lines with a string literal that is exactly the name of an adapter, or a property of that name. */
function namesIn(file: string, text: string): readonly Found[] {
  return text.split('\n').flatMap((line) =>
    [...folders.keys()].flatMap((name) => {
      const isLiteral = new RegExp(`(['"])${name}\\1`).test(line);
      // `command`, `board` and `memory` are ordinary words; the others name nothing else.
      const isProperty = !['command', 'board', 'memory'].includes(name) && new RegExp(`\\.${name}\\b`).test(line);
      return isLiteral || isProperty ? [{ file, name, line: line.trim() }] : [];
    }),
  );
}

function isAllowed({ file, name }: Found): boolean {
  if (file.startsWith(folders.get(name) ?? '-')) return true;
  return otherMeanings.some((each) => each.name === name && file.startsWith(each.file));
}

/** Comments may name an adapter as an example. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

describe('the name of an adapter', () => {
  const found = readSource().flatMap(({ file, text }) => namesIn(file, withoutComments(text)));

  it('appears only in its own folder', () => {
    expect(found.filter((each) => !isAllowed(each))).toEqual([]);
  });

  it('is exempted only in files that contain it', () => {
    const idle = otherMeanings.filter(
      ({ file, name }) => !found.some((each) => each.name === name && each.file.startsWith(file)),
    );
    expect(idle).toEqual([]);
  });

  it('is found by the check', () => {
    const text = 'if (settings.agent.backend === \'codex\') return 1;\nconst kind = { "linear": settings.codex };';
    const names = namesIn('daemon/daemon.ts', text);
    expect(names.map(({ name }) => name)).toEqual(['codex', 'linear', 'codex']);
    expect(names.some(isAllowed)).toBe(false);
    expect(namesIn('agent/codex/profile.ts', "name: 'codex',").every(isAllowed)).toBe(true);
  });
});
