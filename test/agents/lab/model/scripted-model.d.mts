export interface ScriptedModel {
  readonly port: number;
  /** What agents sent so far, oldest first. */
  readonly requests: readonly { readonly path: string; readonly body: string }[];
  stop(): Promise<void>;
}

export function startScriptedModel(): Promise<ScriptedModel>;
