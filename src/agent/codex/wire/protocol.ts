/**
 * What Baton sends to Codex and answers it, in the words of Codex 0.166.0. Generated, not written: by
 * `node scripts/codex-protocol.mjs PATH_OF_CODEX` from what `codex app-server generate-ts --experimental` prints,
 * cut down to the messages and fields that Baton uses. A test makes it again and compares.
 */
export type InitializeParams = { clientInfo: ClientInfo; capabilities: InitializeCapabilities | null };

export type ThreadStartParams = {
  model?: string | null;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  sandbox?: SandboxMode | null;
  config?: { [key in string]?: JsonValue } | null;
  dynamicTools?: Array<DynamicToolSpec> | null;
};

export type ThreadResumeParams = {
  threadId: string;
  model?: string | null;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  sandbox?: SandboxMode | null;
  config?: { [key in string]?: JsonValue } | null;
  excludeTurns?: boolean;
};

export type ThreadSetNameParams = { threadId: string; name: string };

export type ThreadCompactStartParams = { threadId: string };

export type TurnStartParams = {
  threadId: string;
  input: Array<UserInput>;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  sandboxPolicy?: SandboxPolicy | null;
};

export type TurnSteerParams = {
  threadId: string;
  expectedTurnId: string;
  input: Array<UserInput>;
};

export type TurnInterruptParams = { threadId: string; turnId: string };

export type ThreadBackgroundTerminalsCleanParams = { threadId: string };

export type CommandExecutionRequestApprovalResponse = { decision: CommandExecutionApprovalDecision };

export type FileChangeRequestApprovalResponse = { decision: FileChangeApprovalDecision };

export type PermissionsRequestApprovalResponse = {
  permissions: GrantedPermissionProfile;
  scope: PermissionGrantScope;
};

export type ExecCommandApprovalResponse = { decision: ReviewDecision };

export type ApplyPatchApprovalResponse = { decision: ReviewDecision };

export type ToolRequestUserInputResponse = { answers: { [key in string]?: ToolRequestUserInputAnswer } };

export type McpServerElicitationRequestResponse = {
  action: McpServerElicitationAction;
  content: JsonValue | null;
  _meta: JsonValue | null;
};

export type DynamicToolCallResponse = { contentItems: Array<DynamicToolCallOutputContentItem>; success: boolean };

export type CurrentTimeReadResponse = {
  currentTimeAt: number;
};

export type GetAccountParams = {
  refreshToken?: boolean;
};

export type CommandExecParams = {
  command: Array<string>;
  cwd?: string | null;
  sandboxPolicy?: SandboxPolicy | null;
  timeoutMs?: number | null;
};

export type ClientInfo = { name: string; title: string | null; version: string };

export type InitializeCapabilities = {
  experimentalApi: boolean;
  requestAttestation: boolean;
};

export type AskForApproval =
  | 'untrusted'
  | 'on-request'
  | {
      granular: {
        sandbox_approval: boolean;
        rules: boolean;
        skill_approval: boolean;
        request_permissions: boolean;
        mcp_elicitations: boolean;
      };
    }
  | 'never';

export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]?: JsonValue } | null;

export type DynamicToolSpec = { type: 'function' } & DynamicToolFunctionSpec;

export type UserInput = { type: 'text'; text: string; text_elements: Array<TextElement> };

export type SandboxPolicy =
  | { type: 'dangerFullAccess' }
  | { type: 'readOnly'; networkAccess: boolean }
  | { type: 'externalSandbox'; networkAccess: NetworkAccess }
  | {
      type: 'workspaceWrite';
      writableRoots: Array<AbsolutePathBuf>;
      networkAccess: boolean;
      excludeTmpdirEnvVar: boolean;
      excludeSlashTmp: boolean;
    };

export type CommandExecutionApprovalDecision = 'accept' | 'acceptForSession' | 'decline';

export type FileChangeApprovalDecision = 'accept' | 'acceptForSession' | 'decline';

export type GrantedPermissionProfile = {
  network?: AdditionalNetworkPermissions;
  fileSystem?: AdditionalFileSystemPermissions;
};

export type PermissionGrantScope = 'turn' | 'session';

export type ReviewDecision = 'approved' | 'approved_for_session' | { denied: { rejection: string } };

export type ToolRequestUserInputAnswer = { answers: Array<string> };

export type McpServerElicitationAction = 'accept' | 'decline' | 'cancel';

export type DynamicToolCallOutputContentItem = { type: 'inputText'; text: string };

export type DynamicToolFunctionSpec = {
  name: string;
  description: string;
  inputSchema: JsonValue;
};

export type TextElement = {
  byteRange: ByteRange;
  placeholder: string | null;
};

export type NetworkAccess = 'restricted' | 'enabled';

export type AbsolutePathBuf = string;

export type AdditionalNetworkPermissions = { enabled: boolean | null };

export type AdditionalFileSystemPermissions = {
  read: Array<LegacyAppPathString> | null;
  write: Array<LegacyAppPathString> | null;
};

export type ByteRange = { start: number; end: number };

export type LegacyAppPathString = string;
