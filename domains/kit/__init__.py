"""What a domain is made of: tools, a store, a cast, rules, and the `Domain` that ties them together."""
