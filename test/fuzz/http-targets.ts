import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { createAccessTokens } from '../../src/server/access-tokens.ts';
import type { Caller } from '../../src/server/api/caller.ts';
import { createToolHost } from '../../src/server/tool-host.ts';
import { issue } from '../fake/issues.ts';
import { begun } from '../orchestrator/scene.ts';
import { apiOf } from '../server/api/api-scene.ts';
import { boardProject } from '../server/api/read-scene.ts';
import { openTools } from '../tools/open-tools.ts';
import type { FuzzTarget } from './run-fuzz.ts';

/** An answer of this kind means that something failed inside. */
const failedInside = 500;

/** The API and the MCP endpoint, over HTTP on a real listener. Only inside of a test: the scene ends with it. */
export async function httpTargets(): Promise<readonly FuzzTarget[]> {
  const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
  let callers = 0;
  // Each request has a caller of its own, or most would only meet the limit on requests.
  const identify = async (): Promise<Caller> => {
    callers += 1;
    return { scopes: new Set(['read', 'operate']), author: { kind: 'person', name: `p${callers}` } };
  };
  const { listener } = await apiOf([boardProject(stage)], undefined, { identify });
  const tokens = createAccessTokens();
  const host = createToolHost({
    ...{ listener, tokens, clock: systemClock, chance: systemChance },
    findPeer: async () => ({ kind: 'user' }),
  });
  const mcp = host.admit('run-1', openTools().toolSet);
  const base = listener.address.url;
  return [
    {
      name: 'api',
      share: 3,
      corpus: [
        'GET /api/v1/projects/test/issues?state=Todo&limit=5&cursor=abc\n\n',
        'GET /api/v1/search?q=title%20x&project=test\n\n',
        'GET /api/v1/projects/test/runs?limit=1&before=2026-01-01\naccept: text/html\nif-none-match: "x"\n\n',
        'POST /api/v1/projects/test/commands\nidempotency-key: k\n\n{"kind":"issue_steer","issue":"T-1","text":"Go on."}',
        'POST /api/v1/projects/test/commands\n\n{"kind":"issue_hold","issue":"T-1","reason":"r"}',
        'GET /api/v1/usage?from=2026-11-01&to=2026-11-02&by=day\n\n',
        'GET /api/v1/state\norigin: http://evil.example\n\n',
      ],
      run: (input) => asked(base, input),
    },
    {
      name: 'mcp',
      share: 2,
      corpus: [
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
        },
        {
          jsonrpc: '2.0',
          id: 2,
          method: 'tools/call',
          params: { name: 'report_progress', arguments: { text: 'half' } },
        },
        { jsonrpc: '2.0', id: 'x', method: 'tools/list', params: {} },
      ].map(
        (message) =>
          `POST ${new URL(mcp.url).pathname}\nauthorization: Bearer ${mcp.token}\naccept: application/json, text/event-stream\n\n${JSON.stringify(message)}`,
      ),
      run: (input) => asked(base, input),
    },
  ];
}

/** Sends `METHOD path`, then headers, an empty line and the body. What no client can send is skipped. */
async function asked(base: string, input: Buffer): Promise<void> {
  const [head = '', ...rest] = input.toString('latin1').split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const [method = 'GET', path = '/'] = first.split(' ');
  let request: Request;
  try {
    const headers = new Headers({ 'content-type': 'application/json' });
    for (const line of lines) headers.set(line.split(':')[0] ?? '', line.slice(line.indexOf(':') + 1).trim());
    const body = rest.join('\n\n');
    const hasBody = !['GET', 'HEAD'].includes(method.toUpperCase());
    request = new Request(new URL(`${base}${path.startsWith('/') ? '' : '/'}${path}`), {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
      ...(hasBody ? { body: Buffer.from(body, 'latin1') } : {}),
    });
    if (new URL(request.url).origin !== new URL(base).origin) return;
  } catch {
    return;
  }
  // A stream stays open; its head is enough.
  const response = await fetch(request).catch((thrown: unknown) => {
    const { cause } = thrown as { readonly cause?: { readonly code?: string } };
    // No client can send such a header.
    if (cause?.code === 'UND_ERR_INVALID_ARG') return null;
    throw thrown;
  });
  if (response === null) return;
  if (response.status >= failedInside) throw new Error(`status ${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}
