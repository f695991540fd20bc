export interface Proof {
  readonly key: string;
  readonly nonce: string;
  readonly signature: string;
}

export interface Session {
  readonly token: string;
  readonly headers: { readonly authorization: string; readonly origin: string };
}

export interface SignedIn extends Session {
  readonly key: string;
  prove(nonce: string, origin?: string): Promise<Proof>;
  again(): Promise<Session>;
}

export function signIn(link: string): Promise<SignedIn>;

export function post(
  origin: string,
  path: string,
  body: unknown,
  headers?: Record<string, string>,
  // biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes of answers
): Promise<any>;

export interface BotPort {
  readonly url: string;
  readonly api: string;
  close(): void;
}

export function openBotPort(api: string, page?: string): Promise<BotPort>;
