public import RepriseCore
