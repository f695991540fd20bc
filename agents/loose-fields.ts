// Reads fields of objects that an agent gives to our plugins: a missing or wrong one is empty. Without imports: it is copied to hosts.

export type Fields = Readonly<Record<string, unknown>>;

export const textField = (value: unknown): string => (typeof value === 'string' ? value : '');
export const listField = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
