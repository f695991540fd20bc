// The order of the test files: those that take the longest begin first, so that nothing waits for them at the end.

import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from 'vitest/node';

export function longestFirst(long: RegExp): TestSequencerConstructor {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const isLong = ({ moduleId }: TestSpecification) => long.test(moduleId);
      const sorted = await super.sort(files);
      return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
    }
  };
}
