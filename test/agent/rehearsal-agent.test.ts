import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createRehearsalAgent } from '../../src/agent/rehearsal/rehearsal-agent.ts';
import { parseScript } from '../../src/agent/rehearsal/script.ts';
import { agentConformance } from '../conformance/agent.ts';

const program = fileURLToPath(new URL('../../src/agent/rehearsal/program.ts', import.meta.url));
const script = (...lines: string[]): string =>
  ['Ticket text.', '```rehearsal', ...lines, '```', 'More text.'].join('\n');
// The steps of a script start programs without a shell; what needs one is written into a file first.
const shell = (text: string): string[] => ['write run.sh', `| ${text}`, 'run sh run.sh'];

agentConformance({
  name: 'rehearsal',
  create: (parts, { turnTimeoutMs }) =>
    createRehearsalAgent({ nodePath: process.execPath, program, readTimeoutMs: 30_000, turnTimeoutMs }, parts),
  prompts: {
    makeFile: script('say working', 'write done.txt', '| made'),
    fail: script('say trying', 'fail out of luck'),
    fallSilent: script('say last words', 'wait 600000'),
    leaveOrphan: script(...shell('setsid sleep 300 > /dev/null 2>&1 &'), 'say gone'),
    die: script('say ouch', ...shell('kill -9 $PPID')),
    longLine: script(`say ${'x'.repeat(2_000_000)}\u001b[31m`),
    showEnvironment: script(...shell('env > env.txt')),
    ask: script('ask Which colour?'),
    useTool: script('comment hello'),
  },
});

describe('a rehearsal script', () => {
  it('is a fenced block with one step a line, content behind bars, and turns', () => {
    expect(
      parseScript(script('say hi', 'write a/b.txt', '| one', '|', '|  two', 'first fail never', 'next turn', 'wait 5')),
    ).toEqual([
      [
        { verb: 'say', text: 'hi', firstRunOnly: false },
        { verb: 'write', file: 'a/b.txt', content: 'one\n\n two\n', firstRunOnly: false },
        { verb: 'fail', text: 'never', firstRunOnly: true },
      ],
      [{ verb: 'wait', amount: 5, firstRunOnly: false }],
    ]);
  });

  it('may be absent, and may have Windows line ends', () => {
    expect(parseScript('Just text')).toBeNull();
    expect(parseScript(script('push').replaceAll('\n', '\r\n'))).toEqual([
      [{ verb: 'push', text: '', firstRunOnly: false }],
    ]);
  });

  it.each(['dance wildly', 'wait long', 'wait'])('names the line that is no step: %s', (line) => {
    expect(() => parseScript(script(line))).toThrow(line);
  });
});
