// Parts that are drawn again only when what they show has changed: a live page changes many times a second.

import { Component, type FunctionComponent } from "preact";

type Same<P> = (before: P, after: P) => boolean;

export function steady<P extends object>(Part: FunctionComponent<P>, same: Same<P> = alike): new () => Component<P> {
  return class Steady extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !same(this.props as P, next);
    }

    override render() {
      return <Part {...(this.props as P)} />;
    }
  };
}

export function alike<P extends object>(before: P, after: P): boolean {
  const names = Object.keys(after) as (keyof P)[];
  return names.length === Object.keys(before).length && names.every((name) => before[name] === after[name]);
}

/** Like `alike`, for parts that only need to know which kinds there are, not how many. */
export function alikeKinds<P extends { counts: Record<string, number> }>(before: P, after: P): boolean {
  const kinds = (props: P) => Object.keys(props.counts).join();
  return kinds(before) === kinds(after) && alike({ ...before, counts: null }, { ...after, counts: null });
}
