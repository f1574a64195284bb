import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { permissionOf as acpPermissionOf } from '../../src/agent/acp/requests/permission.ts';
import { Reporter as AcpReporter } from '../../src/agent/acp/turn/reporter.ts';
import { turnEndOf as acpTurnEndOf, refusalOf } from '../../src/agent/acp/turn/turn-end.ts';
import { UsageMeter as AcpUsageMeter } from '../../src/agent/acp/turn/usage-meter.ts';
import { permissionOf } from '../../src/agent/claude/requests/permission.ts';
import { userAnswerOf, userQuestionOf } from '../../src/agent/claude/requests/user-question.ts';
import { Reporter } from '../../src/agent/claude/turn/reporter.ts';
import { turnEndOf as claudeTurnEndOf } from '../../src/agent/claude/turn/turn-end.ts';
import { UsageMeter } from '../../src/agent/claude/turn/usage-meter.ts';
import { approvalOf } from '../../src/agent/codex/requests/approval.ts';
import {
  elicitedAnswerOf,
  elicitedApprovalOf,
  elicitedQuestionOf,
} from '../../src/agent/codex/requests/elicitation.ts';
import { inputAnswerOf, inputQuestionOf, toolApprovalOf } from '../../src/agent/codex/requests/user-input.ts';
import { codexError } from '../../src/agent/codex/turn/codex-error.ts';
import { summaryOfFrame } from '../../src/agent/codex/turn/event-summary.ts';
import { quotaWindowsIn } from '../../src/agent/codex/turn/quota-windows.ts';
import { TokenMeter } from '../../src/agent/codex/turn/token-usage.ts';
import { neededInput, turnEndOf } from '../../src/agent/codex/turn/turn-end.ts';
import { readFrame } from '../../src/agent/codex/wire/frame.ts';
import { ReportFile } from '../../src/agent/command/report-file.ts';
import { eventLine } from '../../src/agent/event-line.ts';
import { decode, fromProgram } from '../../src/agent/rehearsal/protocol.ts';
import { EventSink } from '../../src/agent/wire/event-sink.ts';
import { fieldsOf } from '../../src/agent/wire/fields.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import { harmlessLines, harmlessText } from '../../src/core/text/harmless-line.ts';
import { createRedactor } from '../../src/core/text/redact.ts';
import type { HttpClient } from '../../src/http/http.ts';
import { readRetryAfter, readServiceTime } from '../../src/http/service-time.ts';
import { LineFramer } from '../../src/process/output/line-framer.ts';
import { readImport } from '../../src/tracker/board/import/read-import.ts';
import { narrowDocument } from '../../src/tracker/linear/graphql-tool/narrow-document.ts';
import { createLinearTracker } from '../../src/tracker/linear/linear-tracker.ts';
import { parseIssuesFile } from '../../src/tracker/memory/issues-file.ts';
import { readIndex } from '../../src/workspace/git/read/read-index.ts';
import { parseReference } from '../../src/workspace/git/read/read-references.ts';
import { noteIn } from '../../src/workspace/salvage/saved-note.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { openTools } from '../tools/open-tools.ts';
import { linearSettings } from '../tracker/linear/linear-scene.ts';
import { givenText } from '../workflow/given.ts';
import { gitFiles, github, gitOutput } from './git-targets.ts';
import { expectCatalogued, type FuzzTarget } from './run-fuzz.ts';

const root = path.resolve(import.meta.dirname, '../..');
const redactor = createRedactor(['lin_api_fake']);
const codexLines = [
  '{"id":7,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","turnId":"u","itemId":"i","command":"npm test","cwd":"/w","reason":"why","commandActions":[{"type":"unknown","command":"npm test"}]}}',
  '{"id":8,"method":"item/fileChange/requestApproval","params":{"threadId":"t","itemId":"i","changes":{"a.ts":{"type":"update","unified_diff":"@@ -1 +1 @@\\n-a\\n+b"}}}}',
  '{"id":9,"method":"item/tool/requestUserInput","params":{"questions":[{"id":"q","header":"H","question":"Which?","options":[{"label":"Yes","description":"d"}],"isOther":true}]}}',
  '{"id":10,"method":"mcpServer/elicitation/request","params":{"serverName":"s","message":"m","mode":"form","requestedSchema":{"type":"object","properties":{"n":{"type":"number","minimum":1},"c":{"type":"string","enum":["a","b"]}},"required":["n"]},"_meta":{"codex_approval_kind":"mcp","persist":["session"]}}}',
  '{"method":"thread/tokenUsage/updated","params":{"threadId":"t","turnId":"u","tokenUsage":{"total":{"inputTokens":100,"cachedInputTokens":10,"outputTokens":20,"reasoningOutputTokens":5,"totalTokens":120},"last":{"inputTokens":100,"outputTokens":20,"totalTokens":120}}}}',
  '{"method":"account/rateLimits/updated","params":{"rateLimits":{"limitId":"codex","primary":{"usedPercent":97.5,"windowDurationMins":300,"resetsAt":1795000000},"secondary":{"usedPercent":12}}}}',
  '{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"failed","items":[{"type":"agentMessage","text":"Done."}],"error":{"message":"You have hit your usage limit. Try again at Nov 20th, 2026 3:04 PM.","codexErrorInfo":"usageLimitExceeded","additionalDetails":"429"}}}}',
  '{"method":"item/completed","params":{"item":{"type":"commandExecution","command":"ls","status":"completed","exitCode":0,"aggregatedOutput":"a\\u001b[31mb"},"threadId":"t"}}',
  '{"method":"codex/event/token_count","params":{"conversationId":"t","msg":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}}}',
  '{"id":1,"result":{"thread":{"id":"t"}}}',
  '{"id":1,"error":{"code":-32001,"message":"overloaded"}}',
];

const codex: FuzzTarget = {
  name: 'codex',
  share: 20,
  corpus: codexLines.map((line) => `${line}\n`),
  run: (input) => {
    const framer = new LineFramer(16 * 1_024);
    const meter = new TokenMeter();
    const now = 1_794_000_000_000;
    const surroundings = { windows: [], now, home: null };
    for (const { text } of [...framer.push(input), ...[framer.end() ?? []].flat()]) {
      eventLine(text);
      const frame = readFrame(text);
      redactor.redact(frame);
      if (frame === null || frame.kind === 'other') continue;
      const whole = fieldsOf(frame.whole);
      if (frame.kind === 'answer') {
        codexError(whole.error, surroundings);
        continue;
      }
      const { method, params } = frame;
      summaryOfFrame(method, params);
      meter.read(method, params, whole);
      quotaWindowsIn(params, now);
      turnEndOf(method, params, null, surroundings, whole);
      neededInput(method, params, whole, frame.kind === 'request');
      approvalOf(method, params, fieldsOf(params.changes));
      elicitedApprovalOf(method, params);
      elicitedQuestionOf(params);
      elicitedAnswerOf(params, { decision: 'accept', values: { n: '1', c: 'a' } });
      toolApprovalOf(method, params);
      inputQuestionOf(params);
      inputAnswerOf(params, { decision: 'accept', values: { q: 'Yes' } });
    }
  },
};

const claudeLines = [
  '{"type":"assistant","message":{"id":"m","model":"claude-opus-5-5","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"b"},{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":1,"output_tokens":2}},"parent_tool_use_id":"p"}',
  '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"Exit code 1","is_error":true}]},"tool_use_result":{"stdout":"x"}}',
  '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}},"api_message_id":"m"}',
  '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794000100,"rateLimitType":"five_hour","unifiedWindows":{"five_hour":{"utilization":1,"resetsAt":1794000100}}}}',
  '{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"no","permission_denials":[{"tool_name":"Bash"}],"model_usage_since_last_result":{"m":{"inputTokens":1,"costUSD":0.1}}}',
  '{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Edit","input":{"file_path":"/a","old_string":"x","new_string":"y","questions":[{"question":"Which?","options":[{"label":"Yes"}]}]},"permission_suggestions":[{"type":"addRules","behavior":"allow"}]}}',
  '{"type":"system","subtype":"api_retry","error":"overloaded","attempt":1}',
];

const acpLines = [
  '{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"m"}}',
  '{"update":{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"in_progress","rawInput":{"command":["ls","-l"]},"content":[{"type":"terminal","terminalId":"t"}],"_meta":{"terminal_output_delta":{"data":"x"},"terminal_exit":{"exit_code":1}}}}',
  '{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"edit","status":"completed","content":[{"type":"diff","path":"/a","oldText":"x\\ny","newText":"x\\nz"}],"locations":[{"path":"/a"}]}}',
  '{"update":{"sessionUpdate":"plan","entries":[{"content":"a","status":"in_progress"}]}}',
  '{"update":{"sessionUpdate":"usage_update","used":5,"size":9,"cost":{"amount":0.1,"currency":"USD"}}}',
  '{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}',
  '{"code":-32603,"message":"rate limit","data":{"errorKind":"rate_limit","resetsAt":1794000100}}',
  '{"toolCall":{"kind":"execute","rawInput":{"command":"ls"}},"options":[{"optionId":"y","kind":"allow_once"}]}',
];

const acp: FuzzTarget = {
  name: 'acp',
  share: 15,
  corpus: acpLines.map((line) => `${line}\n`),
  run: (input) => {
    const framer = new LineFramer(16 * 1_024);
    const meter = new AcpUsageMeter({}, true);
    const events = new EventSink(systemClock, 1, () => {});
    const reporter = new AcpReporter({ clock: systemClock, events, meter, terminal: () => null });
    for (const { text: line } of [...framer.push(input), ...[framer.end() ?? []].flat()]) {
      const message = fieldsOf(readFrame(line)?.whole);
      reporter.report(fieldsOf(message.update), null);
      meter.endTurn(message);
      const around = { lastMessage: reporter.lastMessage, resetsAt: reporter.resetsAt, now: 0, login: '' };
      acpTurnEndOf(message, around);
      const { code, message: said, data } = message;
      refusalOf(Object.assign(new Error(String(said)), { code: Number(code), data }), around);
      acpPermissionOf(message).answer('accept_for_session');
    }
    reporter.endTurn();
  },
};

const claude: FuzzTarget = {
  name: 'claude',
  share: 15,
  corpus: claudeLines.map((line) => `${line}\n`),
  run: (input) => {
    const framer = new LineFramer(16 * 1_024);
    const meter = new UsageMeter({});
    const events = new EventSink(systemClock, 1, () => {});
    const reporter = new Reporter({ clock: systemClock, events, meter, onCall: () => {} });
    for (const { text } of [...framer.push(input), ...[framer.end() ?? []].flat()]) {
      const message = fieldsOf(readFrame(text)?.whole);
      reporter.report(String(message.type), message);
      meter.endTurn(message);
      claudeTurnEndOf(message, { error: null, resetsAt: null, now: 0, home: null });
      const request = fieldsOf(message.request);
      permissionOf(request, () => null).answer('accept_for_session');
      userQuestionOf(fieldsOf(request.input));
      userAnswerOf(fieldsOf(request.input), { decision: 'accept', values: { 'Which?': 'Yes' } });
    }
    reporter.endTurn();
  },
};

const rehearsal: FuzzTarget = {
  name: 'rehearsal',
  share: 5,
  corpus: [
    '{"type":"usage","input_tokens":10,"output_tokens":5}',
    '{"type":"ask","id":"1","question":"?","options":["a"]}',
  ],
  run: (input) => decode(fromProgram, input.toString()),
};

/** The file is real, as the program of a run would write it; what it says goes to the real tool. */
function commandReports(): FuzzTarget {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-fuzz-'));
  const { toolSet } = openTools(undefined, { onUsage: () => {} });
  return {
    name: 'command-reports',
    share: 5,
    corpus: ['{"type":"usage","input_tokens":1200,"output_tokens":300,"cost_usd":0.0125,"model":"m"}\n'],
    run: async (input) => {
      const reports = await ReportFile.create(folder);
      writeFileSync(reports.path, input);
      for (const report of await reports.read()) await toolSet.call('report_usage', report);
      await reports.remove();
    },
  };
}

const text: FuzzTarget = {
  name: 'text',
  share: 5,
  corpus: ['plain', '\u001b]0;title\u0007x\u001b[31mred', 'a\u202eb\u0000c\ud83d'],
  run: (input) => {
    for (const each of [input.toString(), input.toString('utf16le')]) {
      harmlessText(each);
      harmlessLines(each);
      redactor.redact(each);
    }
  },
};

const record = {
  ...{ id: 'i1', identifier: 'ENG-1', title: 'T', description: 'd', priority: 2, branchName: 'b', url: 'https://l' },
  ...{ createdAt: '2026-11-01T00:00:00Z', updatedAt: '2026-11-02T00:00:00Z', archivedAt: null, trashed: false },
  ...{ state: { name: 'Todo' }, assignee: { id: 'u' }, creator: { id: 'u', email: 'a@example.com' }, botActor: null },
  labels: { nodes: [{ name: 'x' }], pageInfo: { hasNextPage: false } },
  inverseRelations: {
    nodes: [{ type: 'blocks', issue: { id: 'i2', identifier: 'ENG-2', state: { name: 'Done' } } }],
    pageInfo: { hasNextPage: false, endCursor: 'c' },
  },
};
const comment = { id: 'c', body: 'b', createdAt: '2026-11-01T00:00:00Z', user: { id: 'u', email: 'a@example.com' } };
const linearAnswers = [
  { data: { issues: { nodes: [record, record], pageInfo: { hasNextPage: true, endCursor: 'c' } } } },
  { data: { issues: { nodes: [record], pageInfo: { hasNextPage: false, endCursor: null } } } },
  {
    data: {
      issue: { ...record, comments: { nodes: [comment], pageInfo: { hasNextPage: false } }, history: { nodes: [] } },
    },
  },
  { data: null, errors: [{ message: 'Entity not found', extensions: { code: 'RATELIMITED', type: 'x' } }] },
];

/** Linear answers every request with the input. */
function linear(): FuzzTarget {
  let body = '';
  const http: HttpClient = {
    send: async () => ({ status: body.length % 13 === 0 ? 400 : 200, headers: {}, body, isUnchanged: false }),
    pressure: () => ({ level: 'none' }) as unknown as ReturnType<HttpClient['pressure']>,
    windows: () => [],
  };
  const settings = linearSettings({ endpoint: 'https://api.linear.example/graphql' });
  const tracker = createLinearTracker({ settings, http, clock: systemClock, logger: memoryLogger() });
  const reads: (() => Promise<unknown> | undefined)[] = [
    () => tracker.fetchByStates(['Todo']),
    () => tracker.fetchByIds(['i1']),
    () => tracker.fetchComments?.('i1'),
    () => tracker.changes?.moveIssue('i1', 'Done', { kind: 'run', runId: 'r' }),
  ];
  return {
    name: 'linear',
    share: 15,
    corpus: linearAnswers.map((answer) => JSON.stringify(answer)),
    run: async (input) => {
      body = input.toString();
      for (const read of reads) await read()?.catch(expectCatalogued);
    },
  };
}

const linearDocument: FuzzTarget = {
  name: 'linear-document',
  share: 5,
  corpus: [
    'query { viewer { id } }',
    'query Q($f: IssueFilter) { issues(filter: $f, first: 5) { nodes { id title state { name } comments { nodes { body } } } } }',
    'mutation { issueUpdate(id: "i1", input: { title: "x", stateId: "s" }) { success issue { id } } }',
    'mutation M($i: CommentCreateInput!) { commentCreate(input: $i) { success comment { ...C } } } fragment C on Comment { id body }',
  ],
  run: (input) =>
    narrowDocument(input.toString(), { f: { title: { eq: input.toString('latin1') } } }, 'baton', () => 'new'),
};

const boardImport: FuzzTarget = {
  name: 'board-import',
  share: 5,
  corpus: [
    '{"title":"One","description":"d","priority":1,"labels":["a"],"key":"k","blocked_by":["o"]}\n{"title":"Two","key":"o"}\n',
    '# One\n\n- priority: 2\n- labels: a, b\n- blocked by: Two\n\nText\n\n# Two\n\nMore `code`\n\n```\n# no title\n```\n',
  ],
  run: (input) => readImport(input, input[0] === 0x7b ? 'jsonl' : 'markdown'),
};

const issuesFile: FuzzTarget = {
  name: 'issues-file',
  share: 5,
  corpus: [
    '- identifier: T-1\n  title: One\n  labels: [a]\n- {identifier: T-2, title: Two, blocked_by: [T-1], created_at: "2026-01-01T00:00:00Z"}\n',
  ],
  run: (input) => parseIssuesFile(input.toString(), '/issues.yaml'),
};

const index = Buffer.concat([
  Buffer.from('DIRC\0\0\0\x02\0\0\0\x01', 'latin1'),
  Buffer.alloc(40, 1),
  Buffer.alloc(20, 2),
  Buffer.from('\0\x04a.ts\0\0\0\0\0\0', 'latin1'),
]);
const git: FuzzTarget = {
  name: 'git',
  share: 8,
  corpus: [
    index,
    Buffer.concat([Buffer.from('DIRC\0\0\0\x04\0\0\0\x02', 'latin1'), index.subarray(12), index.subarray(12)]),
    `${'a1'.repeat(20)}\n`,
    'ref: refs/heads/main\n',
    'Work of T-1\n\nBaton-Saved: {"version":1,"project":"p","issueId":"1","issueIdentifier":"T-1","files":1}\n',
  ],
  run: async (input) => {
    noteIn(input.toString());
    const reads: readonly (() => unknown)[] = [
      () => readIndex(input, 'sha1'),
      () => readIndex(input, 'sha256'),
      () => parseReference(input.toString('latin1'), 'HEAD'),
    ];
    for (const read of reads) await Promise.resolve().then(read).catch(expectCatalogued);
  },
};

/** The file as a whole, and its template with a hostile issue. */
const workflow: FuzzTarget = {
  name: 'workflow',
  share: 10,
  corpus: [
    '---\ntracker: {kind: memory}\nagent: {backend: command, command: "cat", max_turns: 3}\nlimits: {usd_per_day: 5}\n---\n{{ issue.identifier }}: {{ issue.title | upcase }}\n{% for l in issue.labels %}{{ l }}{% endfor %}\n',
    '---\ntracker:\n  kind: linear\n  provider: {api_key: $KEY, project_slug: p}\nhooks:\n  before_run: |\n    echo x\nworkspace: {root: ~/w}\n---\n{% if attempt %}{{ attempt }}{% else %}first{% endif %}',
    'No front matter {{ issue.description | default: "none" }}',
  ],
  run: (input) => {
    const loaded = givenText(input, { KEY: 'k' });
    const hostile: Issue = issue({ title: input.toString(), description: input.toString('latin1') });
    loaded.renderPrompt({ issue: hostile, attempt: 2, retryKind: null, fenceMark: 'mark-of-0123456789-abcdef' });
    loaded.renderBranch(hostile);
  },
};

const httpHeaders: FuzzTarget = {
  name: 'http-answer',
  share: 5,
  corpus: ['120', 'Tue, 17 Nov 2026 09:00:00 GMT', '1795000000', '0.5'],
  run: (input) => {
    const now = 1_794_000_000_000;
    readRetryAfter(input.toString('latin1'), readServiceTime(input.toString('latin1'), now), now);
  },
};

/** The documented examples are workflow files too. */
export function parserTargets(): readonly FuzzTarget[] {
  const page = readFileSync(path.join(root, 'docs/configuration.md'), 'utf8');
  const examples = [...page.matchAll(/```yaml\n(?<yaml>[\s\S]*?)```/g)].map(
    ({ groups }) => `---\n${groups?.yaml}\n---\nDo it.\n`,
  );
  return [
    ...[
      codex,
      claude,
      acp,
      rehearsal,
      commandReports(),
      text,
      linear(),
      linearDocument,
      boardImport,
      issuesFile,
      git,
      gitOutput(),
      gitFiles(),
      github(),
      httpHeaders,
    ],
    { ...workflow, corpus: [...workflow.corpus, ...examples] },
  ];
}
