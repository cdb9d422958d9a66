// RUN: nki-opt %s --allow-unregistered-dialect --verify-diagnostics

// expected-error @+1 {{'some.op' is not registered, so it can only be written in the generic form}}
some.op
