import { exactLine } from '../../../core/text/exact-text.ts';
import { type Approval, approvalFor, block, type Facts, json, line } from '../../questions/approval.ts';
import { type Fields, fieldsOf, listOf, shown, textOf } from '../../wire/fields.ts';
import { isEditor, serverOf } from '../turn/items.ts';
import type { ControlAnswer } from '../wire/connection.ts';

/** Fields that name the request, describe it again in words of Claude Code, or offer rules: `for_session` has those. */
const notShown = [
  ...['subtype', 'tool_use_id', 'agent_id', 'display_name', 'title', 'description', 'permission_suggestions'],
  ...['server_policy_ask_only', 'requires_user_interaction', 'decision_reason_type'],
];

/**
 * The approval that `can_use_tool` asks for. Nothing of an answer outlives the session: Claude Code offers to write
 * rules into a settings file of the workspace, and Baton accepts them for the session at most. These rules are part of
 * the request: a person who allows it for the session allows them. `reason` says why a request is declined, where the
 * agent can do something about it.
 */
export function permissionOf(request: Fields, reason: () => string | null): Approval<ControlAnswer> {
  const name = textOf(request.tool_name) ?? '';
  const input = fieldsOf(request.input);
  const rules = sessionRules(request);
  const about = Object.fromEntries(Object.entries(request).filter(([key]) => !notShown.includes(key)));
  const whole = rules.length === 0 ? about : { ...about, for_session: rules };
  return approvalFor('can_use_tool', whole, factsOf(name, input, request, rules), (decision) => {
    if (decision === 'decline') {
      const message =
        reason() ?? 'This request was declined. Continue without it, or end your turn and say what you need.';
      return { response: { behavior: 'deny', message } };
    }
    const lasting = decision === 'accept_for_session' && rules.length > 0 ? { updatedPermissions: rules } : {};
    return { response: { behavior: 'allow', updatedInput: input, ...lasting } };
  });
}

/** The offered rules that allow this tool, for the session. */
function sessionRules({ permission_suggestions: offered }: Fields): readonly Fields[] {
  return listOf(offered)
    .map(fieldsOf)
    .filter(({ type, behavior }) => type === 'addRules' && behavior === 'allow')
    .map((rule) => ({ ...rule, destination: 'session' }));
}

/** Tools that change nothing. Claude Code asks for them outside of the workspace, and before it reaches a host. */
const readers: ReadonlySet<string> = new Set(['Read', 'Glob', 'Grep', 'WebFetch', 'WebSearch']);

function factsOf(name: string, input: Fields, request: Fields, rules: readonly Fields[]): Facts {
  const shownFields = ['tool_name', 'input', 'blocked_path', 'decision_reason', 'for_session'];
  const reasons = [
    ...line('Path', request.blocked_path),
    ...block('Reason', textOf(request.decision_reason) ?? ''),
    ...(rules.length === 0 ? [] : block('Also allowed, if you allow it for the session', json(rules))),
  ];
  const missing = name === '' ? { missing: 'it names no tool' } : {};
  const facts = { shown: shownFields, isRead: readers.has(name), ...missing };
  if (name === 'Bash' && textOf(input.command)) {
    const { command, ...others } = input;
    const detail = [...block('Command', shown(command)), ...fieldBlocks(others), ...reasons];
    return { ...facts, kind: 'command', text: `Claude wants to run ${exactLine(shown(command))}`, detail };
  }
  const path = textOf(input.file_path) ?? textOf(input.notebook_path);
  if (isEditor(name) && path !== null) {
    const { file_path: _file, notebook_path: _notebook, ...others } = input;
    const detail = [`File: ${exactLine(path)}`, ...fieldBlocks(others), ...reasons];
    return { ...facts, kind: 'file_change', text: `Claude wants to change ${exactLine(path)}`, detail };
  }
  const { server, tool } = serverOf(name);
  const detail = [...line('Server', server), ...line('Tool', tool), ...block('Input', json(input)), ...reasons];
  const whose = server === '' ? '' : ` of ${exactLine(server)}`;
  return { ...facts, kind: 'tool', text: `Claude wants to call a tool${whose}: ${exactLine(tool)}`, detail };
}

function fieldBlocks(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    block(exactLine(name), typeof value === 'string' ? value : json(value)),
  );
}
